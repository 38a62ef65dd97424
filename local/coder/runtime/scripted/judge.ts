/**
 * What the scripted SENTINEL finds in a change by reading it. It runs nothing: whether the tests pass is shown by the
 * delegated verification, and what nobody could see is never approved.
 */
import type { VerdictToken } from '../../../../schemas/verdict.ts';
import type { Assignment } from '../../../../schemas/harness-api.ts';
import { unboundedGrowth } from './code.ts';
import { PLAN_FILE, readPlan, wantedMethods, type Plan } from './plan.ts';
import { tryGit, type Git } from './repository.ts';

export interface Judgement {
  readonly verdict: 'APPROVED' | 'REJECTED';
  readonly token: VerdictToken | null;
  readonly failureClass: string | null;
  /** What was looked at, and what was found: lines of the review. */
  readonly seen: readonly string[];
  readonly found: readonly string[];
}

export async function judge(git: Git, assignment: Assignment): Promise<Judgement> {
  const blind = await blindness(git, assignment);
  if (blind !== null) return blind;
  const plan = readPlan((await planAt(git, assignment)) ?? '');
  if (plan === null)
    return rejected('RETRY_FORJA', 'plan-unreadable', [], ['The plan has no segment that can be read.']);
  return assignment.phase === 'plan_review' ? judgePlan(plan, assignment) : judgeChange(git, plan, assignment);
}

/** Without the plan, the files or the difference nothing can be judged, and saying so is the whole answer. */
async function blindness(git: Git, assignment: Assignment): Promise<Judgement | null> {
  const blocked = (failure: string, reason: string) => rejected('BLOCKED_UPSTREAM', failure, [], [reason]);
  const head = await tryGit(git, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const files = head === null ? null : await tryGit(git, 'ls-tree', '-r', '--name-only', 'HEAD');
  if (head === null || files === null || files === '') return blocked('empty-workspace', 'The workspace is empty.');
  if (head !== assignment.head) {
    return blocked('wrong-commit', `The checkout is at ${head.slice(0, 12)}, not at ${assignment.head.slice(0, 12)}.`);
  }
  const plan = await planAt(git, assignment);
  if (plan === null || plan.trim() === '') return blocked('missing-plan', `There is no ${PLAN_FILE} to read.`);
  if (assignment.phase === 'plan_review') return null;
  const from = baseOf(assignment);
  const difference = from === null ? null : await tryGit(git, 'diff', '--name-only', from, assignment.head);
  if (difference === null) return blocked('unreadable-diff', 'The difference to the base cannot be read.');
  if (difference === '') return rejected('NEEDS_HUMAN', 'empty-diff', [], ['The change changes nothing.']);
  return null;
}

function judgePlan({ segments }: Plan, { title, goal }: Assignment): Judgement {
  const seen = segments.map(({ n, method, files }) => `segment ${n}: \`${method}\` in ${files.join(', ')}`);
  const planned = segments.map(({ method }) => method);
  const wanted = wantedMethods(`${title}\n${goal}`);
  const found = [
    ...planned
      .filter((method) => wanted.length > 0 && !wanted.includes(method))
      .map((method) => `\`${method}\` is not asked for.`),
    ...segments
      .filter(({ files }) => !files.some((file) => file.startsWith('test/')))
      .map(({ n }) => `Segment ${n} names no test.`),
  ];
  return found.length === 0 ? approved(seen) : rejected('RETRY_FORJA', 'plan-incomplete', seen, found);
}

async function judgeChange(git: Git, plan: Plan, assignment: Assignment): Promise<Judgement> {
  const from = baseOf(assignment) ?? assignment.head;
  const changed = (await git('diff', '--name-only', from, assignment.head)).split('\n');
  const planned = new Set([PLAN_FILE, ...plan.segments.flatMap(({ files }) => files)]);
  const outside = changed.filter((file) => !planned.has(file));
  const code = changed.filter((file) => /^src\/.*\.m?js$/.test(file));
  const growth = (await Promise.all(code.map((file) => growthOf(git, assignment.head, file)))).flat();
  const added = await git('diff', '--unified=0', from, assignment.head);
  const left = added
    .split('\n')
    .filter((line) => /^\+.*\b(?:debugger|console\.log\(|test\.(?:only|skip)\()/.test(line));
  const seen = [
    `${changed.length} files between ${from.slice(0, 12)} and ${assignment.head.slice(0, 12)}: ${changed.join(', ')}`,
  ];
  if (growth.length > 0) return rejected('RETRY_FORJA', 'unbounded-value', seen, growth);
  if (outside.length > 0) {
    return rejected(
      'RETRY_FORJA',
      'outside-plan',
      seen,
      outside.map((file) => `- ${file} [MAJOR] is not in the plan.`),
    );
  }
  if (left.length > 0)
    return rejected(
      'RETRY_FORJA',
      'left-over',
      seen,
      left.map((line) => `- [MAJOR] left over: \`${line.slice(1).trim()}\``),
    );
  if (code.length > 0 && !changed.some((file) => file.startsWith('test/'))) {
    return rejected('RETRY_FORJA', 'missing-test', seen, ['- [MAJOR] the code changed and no test did.']);
  }
  return approved(seen);
}

async function growthOf(git: Git, commit: string, file: string): Promise<readonly string[]> {
  const code = (await tryGit(git, 'show', `${commit}:${file}`)) ?? '';
  return unboundedGrowth(code).map(
    ({ line, statement, variable, bound }) =>
      `- ${file}:${line} [BLOCKER] \`${statement}\` lets \`${variable}\` grow past \`${bound}\`, which every other change of it respects. Required: \`Math.min(${bound}, …)\`, and a test.`,
  );
}

function planAt(git: Git, { plan }: Assignment): Promise<string | null> {
  return plan === null ? Promise.resolve(null) : tryGit(git, 'show', `${plan.commit}:${PLAN_FILE}`);
}

/** A segment is judged against where it began, the whole against its base. */
function baseOf({ phase, segmentBase, base }: Assignment): string | null {
  return phase === 'segment_review' ? segmentBase : base;
}

function approved(seen: readonly string[]): Judgement {
  return { verdict: 'APPROVED', token: null, failureClass: null, seen, found: [] };
}

function rejected(
  token: VerdictToken,
  failureClass: string,
  seen: readonly string[],
  found: readonly string[],
): Judgement {
  return { verdict: 'REJECTED', token, failureClass, seen, found };
}
