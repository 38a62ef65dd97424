/** What must hold of a command policy beyond its shape. A document with a finding is not loaded. */
import { COUNT_PARSERS } from '../../schemas/verify/action.ts';
import { reporterFile } from './counts/counter.ts';
import { templateText } from './evaluate.ts';
import { preparationProblems } from './lint-preparation.ts';
import { characterProblem } from './limits.ts';
import { matchTemplate } from './match.ts';
import type { CommandPolicy, CommandTemplate, TemplateToken } from './types.ts';

export interface PolicyFinding {
  /** Template id, or empty for the document itself. */
  readonly template: string;
  readonly problem: string;
}

/** Environment names that would let a document undo what the sandbox does. */
const FORBIDDEN_ENVIRONMENT = /^(?:LD_|BASH_ENV$|ENV$|GIT_|NODE_OPTIONS$)/;

/** Everything wrong with this policy; empty when it may be used. */
export function lintCommandPolicy(policy: CommandPolicy): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const seen = new Set<string>();
  if (policy.templates.length === 0) findings.push({ template: '', problem: 'there is no template' });
  findings.push(...environmentProblems('', policy.environment));
  for (const template of policy.templates) {
    if (seen.has(template.id)) findings.push({ template: template.id, problem: 'the id is used twice' });
    seen.add(template.id);
    findings.push(...templateProblems(policy, template));
  }
  findings.push(...preparationProblems(policy));
  findings.push(...overlaps(policy));
  return findings;
}

function templateProblems(policy: CommandPolicy, template: CommandTemplate): readonly PolicyFinding[] {
  const problems: string[] = [];
  const [tool] = template.argv;
  if (typeof tool !== 'string' || !policy.tools.includes(tool)) problems.push('argv does not begin with a known tool');
  if (template.executes[0] !== tool) problems.push('executes begins with another tool than argv');
  for (const token of [...template.argv, ...template.executes]) {
    const problem = typeof token === 'string' ? characterProblem(token) : null;
    if (problem !== null) problems.push(`the token ${JSON.stringify(token)} is not permitted: ${problem}`);
  }
  problems.push(...slotProblems(template));
  if (template.cwd.length === 0) problems.push('no working directory is permitted');
  if (template.exitCodes.length === 0) problems.push('no exit code is permitted');
  if (template.maxTimeoutSecs < 1 || template.maxTimeoutSecs > 3600) problems.push('maxTimeoutSecs is not 1 to 3600');
  problems.push(...countProblems(template));
  return [
    ...problems.map((problem) => ({ template: template.id, problem })),
    ...environmentProblems(template.id, template.environment),
  ];
}

function countProblems({ counts, executes }: CommandTemplate): readonly string[] {
  if (counts === null) return [];
  if (!COUNT_PARSERS.includes(counts.parser)) return ['unknown parser'];
  const file = reporterFile(counts.parser);
  // Without that file every count is unknown, so nothing would ever satisfy.
  const written =
    file === null || executes.some((token) => typeof token === 'string' && token.endsWith(`=/report/${file}`));
  return written ? [] : [`the parser ${counts.parser} reads /report/${file}, which the command is not told to write`];
}

function slotProblems(template: CommandTemplate): readonly string[] {
  const problems: string[] = [];
  const asked = slotNames(template.argv);
  for (const slot of new Set([...asked, ...slotNames(template.executes)])) {
    if (!(slot in template.slots)) problems.push(`the slot ${slot} is not defined`);
    if (!asked.includes(slot)) problems.push(`the slot ${slot} is executed but cannot be asked for`);
  }
  for (const [slot, rule] of Object.entries(template.slots)) {
    if (!asked.includes(slot)) problems.push(`the slot ${slot} is defined but not used`);
    if (rule.maxLength < 1 || rule.maxLength > 256) problems.push(`the slot ${slot} has no maxLength of 1 to 256`);
    problems.push(...patternProblems(slot, rule.pattern));
  }
  return problems;
}

function patternProblems(slot: string, pattern: string): readonly string[] {
  if (!pattern.startsWith('^') || !pattern.endsWith('$'))
    return [`the pattern of ${slot} is not anchored at both ends`];
  // `^a|b$` is anchored by its text only: the alternation splits it.
  if (hasTopLevelAlternation(pattern)) return [`the pattern of ${slot} has | outside a group`];
  try {
    return new RegExp(pattern, 'u').test('') ? [`the pattern of ${slot} takes an empty value`] : [];
  } catch {
    return [`the pattern of ${slot} is not a regular expression`];
  }
}

function hasTopLevelAlternation(pattern: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}

function environmentProblems(
  template: string,
  environment: Readonly<Record<string, string>>,
): readonly PolicyFinding[] {
  return Object.keys(environment)
    .filter((name) => FORBIDDEN_ENVIRONMENT.test(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    .map((name) => ({ template, problem: `the environment may not set ${name}` }));
}

/** Two templates that take one argv: which of them rules would depend on their order. Sees literal tokens against slots. */
function overlaps(policy: CommandPolicy): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  policy.templates.forEach((template, index) => {
    for (const later of policy.templates.slice(index + 1)) {
      if (takesLiteral(template, later) || takesLiteral(later, template)) {
        findings.push({ template: later.id, problem: `"${templateText(later)}" is also taken by ${template.id}` });
      }
    }
  });
  return findings;
}

function takesLiteral(template: CommandTemplate, other: CommandTemplate): boolean {
  const literals = other.argv.filter((token) => typeof token === 'string');
  return literals.length === other.argv.length && matchTemplate(template, literals).kind === 'match';
}

function slotNames(tokens: readonly TemplateToken[]): readonly string[] {
  return tokens.flatMap((token) => (typeof token === 'string' ? [] : [token.slot]));
}
