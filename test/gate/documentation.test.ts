/** A documentation over the real store and a real repository: recorded, judged by the gate, and asked whether it may land. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateSubject } from '../../activities/gate/evaluate.ts';
import { makeCandidate } from '../../activities/git/candidate.ts';
import { describeChange, describeFile } from '../../activities/git/files.ts';
import { landingPermission } from '../../activities/git/permission.ts';
import { repositoryPath } from '../../activities/git/repository.ts';
import { recordDocumentation } from '../../activities/verification/documentation.ts';
import type { EvaluatedSubject } from '../../schemas/gate/activities.ts';
import type { Landing } from '../../schemas/git/activities.ts';
import type { DocumentationSubject } from '../../schemas/ticket/activities.ts';
import { bytesOf, worldOf } from '../support/gate-fixtures.ts';
import { moveExecution, TENANT, useGateStage } from '../support/gate-stage.ts';
import { openGitStage, type GitStage } from '../support/git-stage.ts';

const stage = useGateStage();
const { subject: anySubject } = worldOf('operation');
const EXECUTION = { id: 'exec-1', generation: 1 };
const BEFORE = { 'PLAN.md': '# Plan\n', 'src/index.js': 'export {};\n', 'README.md': 'Read me.\n' };

let git: GitStage;
let source: string;
let base: string;
let tickets = 0;

beforeAll(() => {
  git = openGitStage();
  source = git.checkout('source', BEFORE);
  base = git.run(source, 'rev-parse', 'HEAD');
});
afterAll(() => git.close());

/** A ticket of its own at its first execution, and the candidate of what LORE committed on top of the base. */
async function documented(
  files: Readonly<Record<string, string | null>>,
  over: Partial<DocumentationSubject> = {},
): Promise<DocumentationSubject> {
  tickets += 1;
  const ticket = `D-${tickets}`;
  git.run(source, 'checkout', '--quiet', '-B', `portcullis-docs/${ticket}`, base);
  const head = git.commit(source, files);
  const own = repositoryPath(git.repositoriesDir, TENANT, ticket);
  git.run(git.root, 'clone', '--quiet', '--bare', source, own);
  const made = await makeCandidate(own, { base, head, message: 'Document', squash: true, at: 1_700_000_000_000 });
  if (made.kind !== 'candidate') throw new Error(`no candidate: ${made.kind}`);
  const plan = await describeFile(own, { commit: base, path: 'PLAN.md', maxBytes: 1_000 });
  if (plan.state !== 'present') throw new Error('no plan');
  await moveExecution(stage().control, { ...anySubject, missionId: ticket }, EXECUTION.id, EXECUTION.generation);
  return {
    tenant: TENANT,
    ticket,
    execution: EXECUTION,
    stateRevision: 30,
    n: 1,
    plan: { revision: 1, digest: plan.digest, commit: base },
    change: { base, head: made.commit },
    producer: { run: `workspace/${TENANT}/${ticket}/lore/1` },
    definition: {
      schema: 'portcullis/ticket/v1',
      id: ticket,
      title: 'Add words',
      body: 'Say it in words.',
      issueUrl: null,
      repository: { path: '.' },
      baseBranch: 'main',
      segmentsHint: null,
      checks: [],
      criteria: [],
      risk: 'high',
      ttlSeconds: {},
      documentation: true,
    },
    ...over,
  };
}

function record(of: DocumentationSubject) {
  const { evidence, needs } = stage();
  return recordDocumentation(
    {
      evidence,
      evidenceStore: needs.evidence,
      repositoriesDir: git.repositoriesDir,
      workforceRevision: bytesOf('the role registry'),
    },
    of,
  );
}

async function judged(of: DocumentationSubject): Promise<EvaluatedSubject> {
  const { subjectDigest } = await record(of);
  return evaluateSubject(stage().gate, { tenant: TENANT, kind: 'operation', subjectDigest, n: 1 });
}

function mayLand(
  { ticket, change }: DocumentationSubject,
  { evaluationKey }: EvaluatedSubject,
  over: Partial<Landing> = {},
) {
  const { needs, evidence } = stage();
  return landingPermission(
    {
      reader: needs.evidence,
      standing: (of) => evidence.decisionApplies(of),
      describeChange: (of) =>
        describeChange(repositoryPath(git.repositoriesDir, of.tenant, of.pair), of.base, of.head, of.within),
    },
    {
      ...{ tenant: TENANT, pair: ticket, remote: null, branch: 'main', holder: `ticket/${TENANT}/${ticket}` },
      ...{ expectedOld: change.base, candidate: change.head, evaluationKey },
      ...over,
    },
  );
}

test('a change of documents passes its gate, and the pass lands that commit on that base', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n', 'CHANGELOG.md': 'Words.\n', 'README.md': 'Read it.\n' });
  const decided = await judged(of);
  expect(decided).toMatchObject({ decision: 'pass', reasons: [] });
  expect(await mayLand(of, decided)).toMatchObject({ authorises: true, reason: '' });
  expect(await mayLand(of, decided, { candidate: base })).toMatchObject({ authorises: false });
  expect(await mayLand(of, decided, { expectedOld: of.change.head })).toMatchObject({ authorises: false });
});

test.each<[string, Readonly<Record<string, string | null>>]>([
  ['code', { 'src/index.js': 'export const words = 1;\n' }],
  ['code beside a document', { 'docs/words.md': 'Words.\n', 'src/index.js': 'export const words = 1;\n' }],
  ['code that is taken away', { 'src/index.js': null }],
  ['a directory that is only called alike', { 'docs.js': 'x\n' }],
  ['a read-me of the sources', { 'src/README.md': 'x\n' }],
])('[inv-01] a change of %s never passes the gate of documentation', async (_, files) => {
  const of = await documented(files);
  const decided = await judged(of);
  expect(decided.decision).toBe('rework');
  expect(decided.reasons.map(({ code }) => code)).toEqual(expect.arrayContaining(['check_failed', 'criterion_failed']));
  expect(await mayLand(of, decided)).toMatchObject({ authorises: false });
});

test('[inv-02] a change of nothing does not pass', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n' });
  expect((await judged({ ...of, change: { base, head: base } })).decision).toBe('rework');
});

test('[inv-03] a pass of documents on one base does not carry the same commit on another', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n' });
  const decided = await judged(of);
  expect(decided.decision).toBe('pass');
  const own = repositoryPath(git.repositoriesDir, TENANT, of.ticket);
  git.run(source, 'checkout', '--quiet', '-B', 'elsewhere', base);
  const elsewhere = git.commit(source, { 'src/index.js': 'export const more = 1;\n' });
  git.run(own, 'fetch', '--quiet', source, 'elsewhere');
  const again = await judged({ ...of, change: { base: elsewhere, head: of.change.head } });
  expect(again.decision).not.toBe('pass');
  // What was decided first is of a subject that is no longer the newest, and its check has a failed attempt now.
  expect(await mayLand(of, decided)).toMatchObject({ authorises: false });
});

test('[inv-08] a step that is retried, before or after the decision, adds nothing', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n' });
  const first = await record(of);
  const decided = await judged(of);
  const { n } = await stage().control.readAuditHead(TENANT);
  expect(await record(of)).toEqual(first);
  expect((await stage().control.readAuditHead(TENANT)).n).toBe(n);
  expect(await judged(of)).toMatchObject({ decision: 'pass', decisionDigest: decided.decisionDigest });
  expect(await mayLand(of, decided)).toMatchObject({ authorises: true });
});

test('[inv-04] a documentation of an execution that has ended is recorded as history, and lands nothing', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n' });
  const decided = await judged(of);
  await moveExecution(stage().control, { ...anySubject, missionId: of.ticket }, 'exec-2', 2);
  expect(await mayLand(of, decided)).toMatchObject({ authorises: false });
  const late = await judged({ ...of, stateRevision: 31 });
  expect(late.decision).not.toBe('pass');
  expect(await mayLand(of, late)).toMatchObject({ authorises: false });
});

test('a documentation without its plan or its commits is not recorded', async () => {
  const of = await documented({ 'docs/words.md': 'Words.\n' });
  const missing = 'f'.repeat(40);
  await expect(record({ ...of, plan: { ...of.plan, commit: missing } })).rejects.toMatchObject({ code: 'not_found' });
  await expect(record({ ...of, change: { base, head: missing } })).rejects.toMatchObject({ code: 'not_found' });
});
