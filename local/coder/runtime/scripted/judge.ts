/**
 * What the scripted SENTINEL finds in a change by reading it. It runs nothing: whether the tests pass is shown by the
 * delegated verification, and what nobody could see is never approved.
 */
import { SECURITY_CLASS } from '../../../../schemas/gate/vocabulary.ts';
import type { Assignment } from '../../../../schemas/harness-api.ts';
import type { ReportedFinding } from '../../../../schemas/verification/report.ts';
import { unboundedGrowth } from './code.ts';
import { approved, rejected, type Judgement } from './judgement.ts';
import { PLAN_FILE, readPlan, wantedMethods, type Plan } from './plan.ts';
import { disposedOf } from './prior.ts';
import { tryGit, type Git } from './repository.ts';
import { addedLines, holesIn, type AddedLine, type Hole } from './security.ts';

export async function judge(git: Git, assignment: Assignment): Promise<Judgement> {
  const blind = await blindness(git, assignment);
  if (blind !== null) return blind;
  const plan = readPlan((await planAt(git, assignment)) ?? '');
  if (plan === null)
    return rejected('RETRY_FORJA', 'plan-unreadable', [], ['The plan has no segment that can be read.']);
  const judgement = await judged(git, plan, assignment);
  return { ...judgement, dispositions: await disposedOf(git, assignment, judgement) };
}

async function judged(git: Git, plan: Plan, assignment: Assignment): Promise<Judgement> {
  const isSecurity = assignment.verifierClass === SECURITY_CLASS;
  if (assignment.phase === 'plan_review') {
    return isSecurity
      ? approved(plan.segments.map(({ n }) => `segment ${n} of the plan`))
      : judgePlan(plan, assignment);
  }
  return isSecurity ? judgeSecurity(git, assignment) : judgeChange(git, plan, assignment);
}

/** Whatever else the change is: only what it lets somebody do who should not be able to. */
async function judgeSecurity(git: Git, assignment: Assignment): Promise<Judgement> {
  const from = baseOf(assignment) ?? assignment.head;
  const added = addedLines(await git('diff', '--unified=0', '--no-renames', '--text', from, assignment.head));
  const seen = [`${added.length} added lines between ${from.slice(0, 12)} and ${assignment.head.slice(0, 12)}`];
  const holes = added.flatMap((line) => holesIn(line.text).map((hole) => ({ line, hole })));
  const [first] = holes;
  if (first === undefined) return approved(seen);
  // A credential is not quoted: the review is read by more people than the code.
  const found = holes.map(
    ({ line, hole }) => `- ${line.path}:${line.line} [BLOCKER] ${hole.kind}: ${hole.scenario} Required: ${hole.fix}`,
  );
  const findings = holes.slice(0, MOST_FINDINGS).map(({ line, hole }) => securityFinding(line, hole));
  return rejected('RETRY_FORJA', first.hole.kind, seen, found, findings);
}

/** As many as a report holds, in a block of its size. */
const MOST_FINDINGS = 12;

function securityFinding({ path, line }: AddedLine, { scenario, fix }: Hole): ReportedFinding {
  return {
    ...{ type: 'security', severity: 'blocker', standing: 'blocking', causality: 'introduced' },
    location: { path, from_line: line, to_line: line },
    security_requirement: true,
    failure_scenario: scenario,
    required_fix: fix,
  } as const;
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
  if (growth.length > 0) {
    const found = growth.map(({ line }) => line);
    const findings = growth.slice(0, MOST_FINDINGS).map(({ finding }) => finding);
    return rejected('RETRY_FORJA', 'unbounded-value', seen, found, findings);
  }
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

interface Grown {
  /** Of the review. */
  readonly line: string;
  readonly finding: ReportedFinding;
}

async function growthOf(git: Git, commit: string, file: string): Promise<readonly Grown[]> {
  const code = (await tryGit(git, 'show', `${commit}:${file}`)) ?? '';
  return unboundedGrowth(code).map(({ line, statement, variable, bound }) => {
    const scenario = `\`${statement}\` lets \`${variable}\` grow past \`${bound}\`, which every other change of it respects.`;
    const fix = `\`Math.min(${bound}, …)\`, and a test.`;
    return {
      line: `- ${file}:${line} [BLOCKER] ${scenario} Required: ${fix}`,
      finding: {
        ...{ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' },
        location: { path: file, from_line: line, to_line: line },
        failure_scenario: scenario,
        required_fix: fix,
      } as const,
    };
  });
}

function planAt(git: Git, { plan }: Assignment): Promise<string | null> {
  return plan === null ? Promise.resolve(null) : tryGit(git, 'show', `${plan.commit}:${PLAN_FILE}`);
}

/** A segment is judged against where it began, the whole against its base. */
function baseOf({ phase, segmentBase, base }: Assignment): string | null {
  return phase === 'segment_review' ? segmentBase : base;
}
