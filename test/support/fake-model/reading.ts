/** Reads what a CLI sent to the fake model host: which tools it offers, and which of them runs a command. */

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text of a content, whether it is one string or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (isObject(content)) return textOf(content['content'] ?? content['output']);
  return list(content)
    .map((block) => (typeof block === 'string' ? block : stringOf(field(block, 'text'))))
    .join('');
}

/** What a command printed, without what codex says of how it went. */
export function printedOf(content: unknown): string {
  return textOf(content)
    .replace(/^[^]*?^Output:\n/m, '')
    .trim();
}

export interface OfferedTool {
  readonly name: string;
  readonly kind: 'function' | 'custom';
  /** The group that the tool is offered in, where there are groups. */
  readonly namespace: string | null;
}

/** Tools of the request, and those that codex puts into its input. */
export function offeredTools(body: unknown): readonly OfferedTool[] {
  const added = list(field(body, 'input')).flatMap((item) => list(field(item, 'tools')));
  return [...list(field(body, 'tools')), ...added].flatMap((tool) => flat(tool, null));
}

function flat(tool: unknown, namespace: string | null): readonly OfferedTool[] {
  const name = stringOf(field(tool, 'name') ?? field(field(tool, 'function'), 'name'));
  if (field(tool, 'type') === 'namespace') return list(field(tool, 'tools')).flatMap((inner) => flat(inner, name));
  return [{ name, kind: field(tool, 'type') === 'custom' ? 'custom' : 'function', namespace }];
}

export interface ShellTool extends OfferedTool {
  arguments(command: string): object;
  /** The same for a tool that takes free text. */
  text(command: string): string;
}

/** The tool that runs a command in the shell, by the names that CLIs give it. */
export function shellTool(tools: readonly OfferedTool[]): ShellTool | null {
  for (const [pattern, make] of SHELLS) {
    const tool = tools.find(({ name }) => pattern.test(name));
    if (tool !== undefined) return { ...tool, arguments: make, text: (command) => freeText(command) };
  }
  return null;
}

const SHELLS: readonly (readonly [RegExp, (command: string) => object])[] = [
  [/^bash$/i, (command) => ({ command, description: 'runs the one command' })],
  [/^exec_command$/, (cmd) => ({ cmd, yield_time_ms: 60_000 })],
  [/^shell_command$/, (command) => ({ command, timeout_ms: 60_000 })],
  [/^(?:shell|local_shell|container\.exec)$/, (command) => ({ command: ['bash', '-lc', command], timeout_ms: 60_000 })],
  [/^exec$/, (command) => ({ command })],
];

/** For a tool whose input is a program: it prints what the command printed. */
function freeText(command: string): string {
  return `const answer = await tools.exec_command({ cmd: ${JSON.stringify(command)}, yield_time_ms: 60000 });\ntext(answer.output);\n`;
}
