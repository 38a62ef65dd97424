/**
 * The ruling on one argv. Pure, and the same code at the gateway before dispatch and at the executor before spawning.
 *
 * @example evaluateCommand(policy, { argv: ['node', '--test'], cwd: 'repo', timeoutSecs: 600, expectExitCode: 0, artifacts: [] })
 */
import { ARGV_LIMITS, characterProblem, relativePathProblem, sizeProblem } from './limits.ts';
import { fillTemplate, matchTemplate } from './match.ts';
import type {
  CommandAsk,
  CommandPolicy,
  CommandRefusal,
  CommandRuling,
  CommandTemplate,
  EvaluateCommand,
} from './types.ts';

export const evaluateCommand: EvaluateCommand = (policy, ask) => {
  const size = sizeProblem(ask.argv);
  if (size !== null) return refuse('limit', size);
  const [tool = ''] = ask.argv;
  // Before the characters: `./npm` is an unknown tool, whatever it is spelled with.
  if (!policy.tools.includes(tool)) return refuse('tool_unknown', shown(tool));
  for (const [index, token] of ask.argv.entries()) {
    const problem = characterProblem(token);
    if (problem !== null) return refuse('slot_invalid', `argument ${index}: ${problem}`);
  }
  const found = findTemplate(policy, ask.argv);
  return 'allowed' in found ? found : ruleOnTemplate(policy, found.template, found.slots, ask);
};

type Found = { readonly template: CommandTemplate; readonly slots: Readonly<Record<string, string>> };

function findTemplate(policy: CommandPolicy, argv: readonly string[]): Found | CommandRuling {
  let nearest: CommandRuling | null = null;
  for (const template of policy.templates) {
    const match = matchTemplate(template, argv);
    if (match.kind === 'match') return { template, slots: match.slots };
    if (match.kind === 'slot') nearest ??= refuse('slot_invalid', `${match.slot}: ${match.reason}`);
  }
  return nearest ?? refuse('template_mismatch', `it is none of ${templatesOf(policy, argv[0] ?? '')}`);
}

function ruleOnTemplate(
  policy: CommandPolicy,
  template: CommandTemplate,
  slots: Readonly<Record<string, string>>,
  ask: CommandAsk,
): CommandRuling {
  if (!template.cwd.includes(ask.cwd)) return refuse('cwd_invalid', `${template.id} does not run in ${ask.cwd}`);
  if (!Number.isSafeInteger(ask.timeoutSecs) || ask.timeoutSecs < 1 || ask.timeoutSecs > template.maxTimeoutSecs) {
    return refuse('limit', `timeout_secs must be 1 to ${template.maxTimeoutSecs}`);
  }
  if (!template.exitCodes.includes(ask.expectExitCode)) {
    return refuse('expect_not_permitted', `${template.id} permits ${template.exitCodes.join(', ')}`);
  }
  const artifacts = artifactProblem(ask.artifacts);
  if (artifacts !== null) return artifacts;
  return {
    allowed: true,
    template: template.id,
    argvExecuted: fillTemplate(template.executes, slots),
    environment: { ...policy.environment, ...template.environment },
    limits: { ...policy.limits, timeoutSecs: ask.timeoutSecs },
    counts: template.counts,
    // A document that lint passed has it.
    prepare: policy.preparations.find(({ id }) => id === template.prepare) ?? null,
    definitionFiles: template.definitionFiles,
  };
}

function artifactProblem(artifacts: readonly string[]): CommandRuling | null {
  if (artifacts.length > ARGV_LIMITS.artifacts) return refuse('limit', `more than ${ARGV_LIMITS.artifacts} artifacts`);
  for (const [index, path] of artifacts.entries()) {
    const problem = relativePathProblem(path);
    if (problem !== null) return refuse('slot_invalid', `expect.artifacts ${index}: ${problem}`);
    if (artifacts.indexOf(path) !== index)
      return refuse('slot_invalid', `expect.artifacts ${index}: it is there twice`);
  }
  return null;
}

/** The template's command as people write it. @example 'cargo test --package <crate>' */
export function templateText(template: CommandTemplate): string {
  return template.argv.map((token) => (typeof token === 'string' ? token : `<${token.slot}>`)).join(' ');
}

function templatesOf(policy: CommandPolicy, tool: string): string {
  return policy.templates
    .filter((template) => template.argv[0] === tool)
    .map((template) => `"${templateText(template)}"`)
    .join(', ');
}

function refuse(reason: CommandRefusal, detail: string): CommandRuling {
  return { allowed: false, reason, detail };
}

/** What was asked, safe to print: bounded, and nothing outside printable ASCII. */
function shown(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
}
