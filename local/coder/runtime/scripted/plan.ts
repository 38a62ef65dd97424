/** PLAN.md as the scripted FORGE writes it and the scripted SENTINEL reads it. */

export const PLAN_FILE = 'PLAN.md';

export interface PlanSegment {
  readonly n: number;
  /** The method that it delivers. */
  readonly method: string;
  readonly promise: string;
  readonly files: readonly string[];
}

export interface Plan {
  readonly title: string;
  readonly segments: readonly PlanSegment[];
}

export function planText({ title, segments }: Plan): string {
  const files = [...new Set(segments.flatMap((segment) => segment.files))];
  return [
    `# Plan: ${title}`,
    '',
    '## Understanding',
    '',
    `The code lacks ${segments.map(({ method }) => `\`${method}\``).join(' and ')}; everything else stays as it is.`,
    '',
    ...segments.flatMap(segmentLines),
    '## Files changed',
    '',
    ...files.map((file) => `- ${file}`),
    '',
    '## Out of scope',
    '',
    'What the methods that are there do.',
    '',
    '## Risks',
    '',
    'Callers rely on the bounds that the code keeps.',
    '',
  ].join('\n');
}

function segmentLines({ n, method, promise, files }: PlanSegment): readonly string[] {
  return [
    `## Segment ${n}: \`${method}\``,
    '',
    `- Deliverable: \`${method}\` ${promise}`,
    `- Files: ${files.join(', ')}`,
    `- Tests: one for \`${method}\` in ${files.find((file) => file.startsWith('test/')) ?? 'the tests'}`,
    '- Exit: the tests of the project pass',
    '',
  ];
}

/** `null` when no segment can be read: such a plan promises nothing. */
export function readPlan(text: string): Plan | null {
  const title = /^# Plan: (.+)$/m.exec(text)?.[1];
  const segments = text
    .split(/^## Segment /m)
    .slice(1)
    .flatMap(readSegment);
  return title === undefined || segments.length === 0 ? null : { title, segments };
}

function readSegment(text: string): readonly PlanSegment[] {
  const [, n, method] = /^([1-9]\d?): `([^`]+)`/.exec(text) ?? [];
  const promise = /^- Deliverable: `[^`]+` (.+)$/m.exec(text)?.[1];
  const files = /^- Files: (.+)$/m.exec(text)?.[1]?.split(', ') ?? [];
  if (n === undefined || method === undefined || promise === undefined) return [];
  return [{ n: Number(n), method, promise, files }];
}

/** The methods that a ticket asks for: whatever it writes as a call in backticks. */
export function wantedMethods(goal: string): readonly string[] {
  const names = [...goal.matchAll(/`([A-Za-z_$][\w$]*)\([^`)]*\)`/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
  return [...new Set(names)];
}
