/** Reviews as they become records: what a reviewer found stops this subject, and the next one has to answer it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filedFindingsOf, openBlockersOf } from '../../activities/evidence/open-findings.ts';
import { readFileAt } from '../../activities/git/files.ts';
import { repositoryPath } from '../../activities/git/repository.ts';
import { consumeApproval, currentApproval, readApproval } from '../../activities/store/approvals.ts';
import { appendReview, readAssignment } from '../../activities/store/harness.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { writeAssignment } from '../../activities/ticket/assignment.ts';
import {
  concludeReview,
  openReview,
  planReviews,
  readReview,
  type ReviewNeeds,
} from '../../activities/verification/review.ts';
import { endApproval } from '../../activities/verification/review-audit.ts';
import { GENERAL_REVIEW } from '../../policies/verification/reviewers.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { MAX_REVIEW_BYTES, type Assignment } from '../../schemas/harness-api.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { PlannedReview, ReviewConclusion } from '../../schemas/verification/activities.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import { stagedSubject, TENANT, useGateStage, type StagedSubject } from '../support/gate-stage.ts';
import { openGitStage, type GitStage } from '../support/git-stage.ts';

const stage = useGateStage();
const SECURITY: PlannedReview = { verifierClass: 'security', seat: 1 };

let git: GitStage;
let needs: ReviewNeeds;
let gateway: StoreConnection;
let change: { readonly base: string; readonly head: string };
let checkout: string;
beforeAll(async () => {
  git = openGitStage();
  checkout = git.checkout('producer', { 'src/a.js': 'one\ntwo\nthree\n', '.gitattributes': '*.js -diff\n' });
  const base = git.run(checkout, 'rev-parse', 'HEAD');
  change = { base, head: git.commit(checkout, { 'src/a.js': 'one\ntwo, changed\nthree\nfour\n' }) };
  const { connect, evidence, needs: of } = stage();
  gateway = await connect('gateway');
  const connection = await connect('control');
  const { evidence: evidenceStore, actionKey } = of;
  needs = { repositoriesDir: git.repositoriesDir, evidence, evidenceStore, connection, actionKey };
});
afterAll(() => git.close());

const BLOCKING = {
  ...{ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' },
  location: { path: 'src/a.js', from_line: 2, to_line: 2 },
  failure_scenario: 'The second line is wrong.',
  required_fix: 'Mend the second line.',
};
const OUTSIDE = { ...BLOCKING, location: { path: 'src/a.js', from_line: 1, to_line: 1 } };
const REJECTED = { verdict: 'REJECTED', verdict_token: 'RETRY_FORJA' };
const APPROVED = { verdict: 'APPROVED' };

/** A subject of the plan gate, whose checks are the control plane's own, in a ticket with a repository. */
async function subjectOf(of: Partial<SubjectManifest> = {}): Promise<StagedSubject> {
  const subject = await stagedSubject(stage(), 'plan', of);
  const path = repositoryPath(git.repositoriesDir, TENANT, subject.world.subject.missionId);
  if (of.missionId === undefined) git.run(git.root, 'clone', '--quiet', '--bare', checkout, path);
  await subject.check(stage(), 'passed', 'plan-present');
  await subject.check(stage(), 'passed', 'contract-agreed');
  return subject;
}

const textOf = (block: object) => Buffer.from(`Looked.\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\`\n`);
const digestOfText = (block: object) => contentDigest(textOf(block));

let rounds = 0;

/** The next round of the same ticket, which has to answer these. */
async function nextOf({ world }: StagedSubject, ids: readonly string[]): Promise<StagedSubject> {
  const { missionId, stateRevision } = world.subject;
  const of = { tenant: TENANT, ticket: missionId };
  const priorBlockers = await filedFindingsOf(needs.evidenceStore, of, ids);
  return subjectOf({ missionId, stateRevision: stateRevision + (rounds += 1), priorBlockers });
}

let generations = 0;

/** One review from its opening to what is concluded of it: what the reviewer would write around a block, or these bytes. */
async function reviewed(
  subject: StagedSubject,
  block: object | Buffer,
  review: PlannedReview = GENERAL_REVIEW,
  answer: (approvalId: string) => Promise<void> = () => Promise.resolve(),
) {
  const { missionId: ticket, executionId, executionGeneration, stateRevision, criteria } = subject.world.subject;
  const workspaceGeneration = (generations += 1);
  const parameters = {
    ...{ tenant: TENANT, ticket, gate: 'plan', stateRevision, round: 1, segment: null, change, priorBlockers: [] },
    execution: { id: executionId, generation: executionGeneration },
    plan: { revision: 1, digest: `sha256:${'1'.repeat(64)}`, commit: change.head },
    branchHead: change.head,
    producer: { run: 'forge-1' },
    definition: {
      ...{ title: 'a ticket', body: '', baseBranch: 'main' },
      criteria: criteria.items.map(({ criterionId }) => ({
        ...{ id: criterionId, text: '', required: true, methods: ['model'] },
      })),
    },
  } as unknown as SubjectParameters;
  const opening = {
    ...{ parameters, subjectDigest: subject.digest, n: 1, review, workspaceGeneration },
    expiresAt: Date.now() + 600_000,
  };
  const opened = await openReview(needs, opening);
  const bytes = Buffer.isBuffer(block) ? block : textOf(block);
  const seat = { tenant: TENANT, pair: ticket, workspaceGeneration };
  await appendReview(gateway, seat, opened.name, bytes);
  await answer(opened.approvalId);
  const reading = await readReview(needs, { tenant: TENANT, ticket, workspaceGeneration, name: opened.name });
  if (!reading.found) throw new Error('nothing was appended');
  const conclusion: ReviewConclusion = {
    ...{ opening, opened, runId: `run-${workspaceGeneration}`, ending: { state: 'answered', reading }, checks: [] },
    at: await stage().control.now(),
  };
  const concluded = await concludeReview(needs, conclusion);
  return { opened, reading, conclusion, concluded };
}

const reasonsOf = async (subject: StagedSubject) => {
  const { decision, reasons } = await subject.evaluate(stage());
  return [decision, ...reasons.map(({ code, ref }) => `${code} ${ref}`)];
};
const lengthOf = (subject: StagedSubject) => stage().auditor.llen(keysOf(TENANT).subjectIndex(subject.digest));

describe('a review that rejects', () => {
  test('[inv-02] files its blocking finding, which stops this subject and is the next one’s to answer', async () => {
    const first = await subjectOf();
    const { concluded } = await reviewed(first, { ...REJECTED, findings: [BLOCKING, OUTSIDE] });
    const [id = ''] = concluded.blocking;
    // The second cites a line that the change does not touch: it is adjacent, kept, and nobody is sent back with it.
    expect(concluded.blocking).toEqual([expect.stringMatching(/^f-[0-9a-f]{32}$/)]);
    const { decision, openFindings } = await first.evaluate(stage());
    expect({ decision, openFindings }).toEqual({ decision: 'rework', openFindings: [id] });

    const silent = await nextOf(first, [id]);
    const { opened } = await reviewed(silent, APPROVED);
    expect(opened.priorBlockers).toEqual(silent.world.subject.priorBlockers);
    expect(await reasonsOf(silent), 'what is not mentioned stays open').toEqual(['rework', `prior_blocker_open ${id}`]);

    const answered = await nextOf(first, [id]);
    const resolved = { finding: id, disposition: 'resolved', evidence: ['diff'], reason: 'mended' };
    await reviewed(answered, { ...APPROVED, dispositions: [resolved] });
    expect(await reasonsOf(answered)).toEqual(['pass']);
  });

  test('[inv-02] a later reviewer withdraws nothing by citing what is no evidence of the new subject', async () => {
    const first = await subjectOf();
    const { concluded } = await reviewed(first, { ...REJECTED, findings: [BLOCKING] });
    const [id = ''] = concluded.blocking;
    const next = await nextOf(first, [id]);
    const withdrawn = { finding: id, disposition: 'resolved', evidence: ['my-word'], reason: 'it_is_fine' };
    await reviewed(next, { ...APPROVED, dispositions: [withdrawn] });
    expect(await reasonsOf(next)).toEqual(['rework', `resolution_unsupported ${id}`]);
    const bare = { finding: id, disposition: 'resolved', reason: 'it_is_fine' };
    const { reading } = await reviewed(await nextOf(first, [id]), { ...APPROVED, dispositions: [bare] });
    expect(reading).toMatchObject({ verdict: 'UNPARSEABLE', route: 'reask' });
  });

  test('[inv-05] it answers only for blockers of its own subject, by ids that are ours', async () => {
    const [first, other] = [await subjectOf(), await subjectOf()];
    const [a] = (await reviewed(first, { ...REJECTED, findings: [BLOCKING] })).concluded.blocking;
    const [b] = (await reviewed(other, { ...REJECTED, findings: [BLOCKING] })).concluded.blocking;
    const next = await nextOf(first, [a ?? '']);
    const foreign = { finding: b ?? '', disposition: 'resolved', evidence: ['diff'], reason: 'mended' };
    await reviewed(next, { ...APPROVED, dispositions: [foreign, { ...foreign, finding: 'f-1' }] });
    expect(await reasonsOf(next)).toEqual(['rework', `prior_blocker_open ${a ?? ''}`]);
    const of = { tenant: TENANT, ticket: first.world.subject.missionId };
    await expect(filedFindingsOf(needs.evidenceStore, of, [b ?? ''])).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[inv-08] is concluded twice and recorded once', async () => {
    const subject = await subjectOf();
    const { concluded, conclusion } = await reviewed(subject, { ...REJECTED, findings: [BLOCKING, OUTSIDE] });
    const length = await lengthOf(subject);
    expect(length).toBe(3);
    expect(await concludeReview(needs, conclusion)).toEqual(concluded);
    expect(await lengthOf(subject)).toBe(length);
  });

  test('[inv-04] found nothing that counts when its run is history', async () => {
    const subject = await subjectOf();
    await nextOf(subject, []);
    const before = await lengthOf(subject);
    const { concluded } = await reviewed(subject, { ...REJECTED, findings: [BLOCKING] });
    expect(concluded).toMatchObject({ stale: true, blocking: [] });
    expect(await lengthOf(subject)).toBe(before);
  });
});

describe('a review that is no text', () => {
  test('[inv-19] is committed as it was appended, says nothing about the work, and holds nobody up', async () => {
    const subject = await subjectOf();
    const bytes = Buffer.alloc(MAX_REVIEW_BYTES, 0xff);
    const { reading, concluded, opened } = await reviewed(subject, bytes);
    expect(reading).toMatchObject({ verdict: 'UNPARSEABLE', digest: contentDigest(bytes) });
    const [, commit = ''] = concluded.refs;
    const gitDir = repositoryPath(git.repositoriesDir, TENANT, subject.world.subject.missionId);
    const path = `evaluation-1/generation-${generations}/${opened.name}`;
    expect(await readFileAt(gitDir, { commit, path, maxBytes: MAX_REVIEW_BYTES })).toMatchObject({ bytes });
    expect((await reasonsOf(subject))[0]).toBe('blocked');
  });
});

describe('the audit chain of a review', () => {
  /** What the chain has of a ticket from an entry on, by event. */
  const enteredOf = async (ticket: string, from: number) => {
    const { n } = await stage().control.readAuditHead(TENANT);
    const numbers = Array.from({ length: n - from }, (_, at) => from + at + 1);
    const entries = await Promise.all(numbers.map((at) => stage().control.readAuditEntry(TENANT, at)));
    return entries.flatMap((signed) =>
      signed?.entry.refs['ticket'] === ticket && /^(token|run)_/.test(signed.entry.event) ? [signed.entry] : [],
    );
  };

  test('[inv-08] has its approval, its start and, once it was used up, who used it for what: each once', async () => {
    const subject = await subjectOf();
    const { missionId: ticket } = subject.world.subject;
    const { n } = await stage().control.readAuditHead(TENANT);
    const { conclusion, reading, opened } = await reviewed(subject, APPROVED, GENERAL_REVIEW, async (id) => {
      const binding = await readApproval(gateway, TENANT, id);
      if (binding === null) throw new Error('there is no approval');
      const use = { schema: 'portcullis/approval-use/v1', id, by: 'sentinel-1', verdict: 'APPROVED' } as const;
      await consumeApproval(gateway, binding, { ...use, reviewDigest: digestOfText(APPROVED) });
    });
    const { approvalId: approval } = opened;
    const entered = await enteredOf(ticket, n);
    expect(entered.map(({ event }) => event)).toEqual(['token_minted', 'run_started', 'token_consumed']);
    for (const { refs } of entered) expect(refs).toMatchObject({ approval, ticket });
    expect(entered[2]?.refs).toMatchObject({ by: 'sentinel-1', verdict: 'APPROVED', review: reading.digest });
    await openReview(needs, conclusion.opening);
    await concludeReview(needs, conclusion);
    expect(await enteredOf(ticket, n)).toEqual(entered);
  });

  test('[inv-02] has the use of an approval whose review nobody concluded, before the next one is minted', async () => {
    const subject = await subjectOf();
    const { missionId: ticket } = subject.world.subject;
    const { n } = await stage().control.readAuditHead(TENANT);
    const { conclusion, opened } = await reviewed(subject, APPROVED);
    const { approvalId } = await openReview(needs, conclusion.opening);
    const binding = await readApproval(gateway, TENANT, approvalId);
    if (binding === null) throw new Error('there is no approval');
    const use = {
      schema: 'portcullis/approval-use/v1',
      id: approvalId,
      by: 'sentinel-1',
      verdict: 'APPROVED',
    } as const;
    await consumeApproval(gateway, binding, { ...use, reviewDigest: digestOfText(APPROVED) });
    const next = await openReview(needs, { ...conclusion.opening, workspaceGeneration: (generations += 1) });
    // The end of one that is over touches no other.
    await endApproval(needs, { tenant: TENANT, ticket, approvalId });
    expect(await currentApproval(gateway, TENANT, ticket)).toBe(next.approvalId);
    await endApproval(needs, { tenant: TENANT, ticket, approvalId: next.approvalId });
    expect(await currentApproval(gateway, TENANT, ticket)).toBeNull();
    const entered = await enteredOf(ticket, n);
    expect(opened.approvalId).toBe(approvalId);
    expect(entered.map(({ event }) => event)).toEqual([
      ...['token_minted', 'run_started', 'token_consumed', 'token_minted', 'run_started'],
    ]);
    await expect(
      consumeApproval(gateway, binding, { ...use, by: 'late', reviewDigest: digestOfText(REJECTED) }),
    ).rejects.toMatchObject({ code: 'approval_used' });
  });
});

describe('what is told of an open finding', () => {
  test('is the same to the producer and to the next reviewer, and of an adjacent one nothing', async () => {
    const first = await subjectOf();
    const { concluded } = await reviewed(first, { ...REJECTED, findings: [BLOCKING, OUTSIDE] });
    const next = await nextOf(first, concluded.blocking);
    await reviewed(next, APPROVED);
    const { missionId: ticket } = next.world.subject;
    const asked = await readAssignment(needs.connection, TENANT, ticket, 'sentinel');
    expect(asked).toMatchObject({ verifierClass: 'reviewer', review: 'CONTRACT.md' });
    expect(asked?.blockers).toMatchObject([
      {
        ...{ findingId: concluded.blocking[0], type: 'correctness', requiredFix: 'Mend the second line.' },
        location: { path: 'src/a.js', fromLine: 2, toLine: 2 },
      },
    ]);
    let written: Assignment | null = null;
    const write = (_: string, assignment: Assignment) => Promise.resolve(void (written = assignment));
    // Ids that are no findings, as an older state may hold them, are passed over.
    const blockers = [...concluded.blocking, 'login-works', `f-${'0'.repeat(32)}`];
    if (asked === null) throw new Error('nothing is asked');
    await writeAssignment({ evidence: needs.evidenceStore, write }, { tenant: TENANT, assignment: asked, blockers });
    expect(written).toMatchObject({ blockers: asked.blockers });
  });

  test('[inv-02] one whose record was taken away is still named, and misses its words', async () => {
    const first = await subjectOf();
    const { concluded } = await reviewed(first, { ...REJECTED, findings: [BLOCKING] });
    const of = { tenant: TENANT, ticket: first.world.subject.missionId };
    const filed = await filedFindingsOf(needs.evidenceStore, of, concluded.blocking);
    await stage().auditor.del(`ns:${TENANT}:finding:${filed[0]?.digest.slice(7) ?? ''}`);
    expect(await filedFindingsOf(needs.evidenceStore, of, concluded.blocking)).toEqual(filed);
    expect(await openBlockersOf(needs.evidenceStore, TENANT, filed)).toMatchObject([{ type: 'unknown' }]);
  });
});

describe('the reviewers of a subject', () => {
  test.each([
    ['low', ['reviewer']],
    ['moderate', ['reviewer', 'security']],
    ['critical', ['reviewer', 'security']],
  ] as const)('of %s risk at the merge gate are %j', async (risk, classes) => {
    const subject = await stagedSubject(stage(), 'merge', { risk: { class: risk, securityRequirementRevision: 1 } });
    const planned = await planReviews(needs, subject.ref);
    expect(planned.map(({ verifierClass }) => verifierClass)).toEqual(classes);
  });

  test('[inv-05] each acts under a grant of its own principal, appends a file of its own, and answers by its own approval', async () => {
    const subject = await subjectOf();
    const general = await reviewed(subject, APPROVED);
    const security = await reviewed(subject, { ...REJECTED, failure_class: 'hard-coded-secret' }, SECURITY);
    expect([general.opened.name, security.opened.name]).toEqual(['CONTRACT.md', 'plan-security.md']);
    expect(general.opened.approvalId).not.toBe(security.opened.approvalId);
    const { evidenceStore } = needs;
    const grants = await Promise.all(
      [general, security].map(({ opened: { grant } }) => evidenceStore.readGrant(TENANT, grant.id, grant.revision)),
    );
    const ticket = subject.world.subject.missionId;
    expect(grants.map((grant) => grant?.principal.id)).toEqual([`sentinel:${ticket}`, `sentinel-security:${ticket}`]);
    // The rejection of one is heard, whatever the other says.
    expect((await subject.evaluate(stage())).decision).toBe('rework');
    const path = repositoryPath(git.repositoriesDir, TENANT, ticket);
    const files = git.run(path, 'ls-tree', '-r', '--name-only', `refs/portcullis/reviews/${ticket}`).split('\n');
    expect(files.map((file) => file.split('/').at(-1))).toEqual(['CONTRACT.md', 'plan-security.md']);
  });
});
