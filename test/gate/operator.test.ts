/** Decisions as an operator sees them: read as the store's user `reader`, which can write nothing. */
import { beforeAll, describe, expect, test } from 'vitest';
import { gateReader } from '../../activities/store/gate-reader.ts';
import { recordText, verificationOf } from '../../cli/evidence/evidence.ts';
import { findingText, listText } from '../../cli/evidence/findings.ts';
import { historyText } from '../../cli/gate/history.ts';
import { exitCodeOf, gateObject, whyText } from '../../cli/gate/show.ts';
import { createOutput } from '../../cli/output.ts';
import { showEvidence, ticketFindings } from '../../gateway/operator/evidence.ts';
import { gateHistory, showGate, type GateReading } from '../../gateway/operator/gates.ts';
import { digestHex, parseDigest } from '../../schemas/digest.ts';
import { keysOf } from '../../schemas/keys.ts';
import { moveExecution, stagedSubject, StagedSubject, TENANT, useGateStage } from '../support/gate-stage.ts';
import { worldOf } from '../support/gate-fixtures.ts';

const stage = useGateStage();
const output = createOutput({ json: false, debug: false, color: false });
let reading: GateReading;

beforeAll(async () => {
  reading = { reader: gateReader(await stage().connect('reader')), keys: stage().needs.gateKeys };
});

test('a decision is found by its evaluation key, its subject and its ticket', async () => {
  const subject = await (await stagedSubject(stage())).passing(stage());
  const { evaluationKey } = await subject.evaluate(stage());
  const { missionId: ticket } = subject.world.subject;
  for (const id of [evaluationKey, digestHex(evaluationKey), subject.digest, digestHex(subject.digest), ticket]) {
    const answer = await showGate(reading, TENANT, id);
    expect(answer).toMatchObject({
      ticket,
      standing: { evaluationKey, applicability: 'applicable', authorises: true },
    });
    expect(exitCodeOf(answer.standing)).toBe(0);
  }
});

test('why says the reasons in sentences, what to do, and that a rework counts as long as nothing moved', async () => {
  const subject = await stagedSubject(stage());
  await subject.check(stage(), 'failed');
  await subject.run(stage(), { 'rows-conserved': 'failed' });
  await subject.evaluate(stage());
  const answer = await showGate(reading, TENANT, subject.world.subject.missionId);
  expect(exitCodeOf(answer.standing)).toBe(3);
  expect(whyText(answer, output)).toBe(
    [
      'The operation gate says rework.',
      'The check operation-result failed on this head.',
      'The criterion rows-conserved was judged and does not hold.',
      'It counts now.',
      'To do: Mend what it reports and submit a new head; running it again does not clear a failure.',
      'To do: See the findings for that criterion and submit a new head.',
    ].join('\n'),
  );
});

test('a pass that no longer applies exits 8 and says which component moved', async () => {
  const subject = await (await stagedSubject(stage())).passing(stage());
  await subject.evaluate(stage());
  await moveExecution(stage().control, subject.world.subject, 'exec-2', 2);
  const answer = await showGate(reading, TENANT, subject.world.subject.missionId);
  expect(exitCodeOf(answer.standing)).toBe(8);
  expect(gateObject(answer)).toMatchObject({
    decision: 'pass',
    applicability: 'execution_superseded',
    authorises: false,
    moved: [{ name: 'execution_superseded', component: 'execution' }],
  });
  expect(whyText(answer, output)).toContain('The ticket is at another execution now.');
});

test('the history of a ticket has every decision of every subject, newest first, each with what it is worth now', async () => {
  const first = await (await stagedSubject(stage())).passing(stage());
  await first.evaluate(stage());
  await first.check(stage(), 'failed');
  await first.evaluate(stage());
  const { subject } = first.world;
  const manifest = { ...subject, stateRevision: subject.stateRevision + 1 };
  await stage().evidence.registerSubject({ tenant: TENANT, manifest });
  const second = new StagedSubject(worldOf('operation', { subject: manifest }));
  const history = await gateHistory(reading, TENANT, subject.missionId);
  expect(history.items).toMatchObject([
    { subjectDigest: second.digest, decision: null, evaluationKey: null, applicability: null },
    { subjectDigest: first.digest, decision: 'rework', applicability: 'subject_superseded' },
    { subjectDigest: first.digest, decision: 'pass', applicability: 'contradicted' },
  ]);
  expect(historyText(history, output).split('\n')).toHaveLength(4);
});

test('a decision that cannot be read is listed as tampered with, and shown to nobody as a decision', async () => {
  const subject = await (await stagedSubject(stage())).passing(stage());
  const { evaluationKey } = await subject.evaluate(stage());
  await stage().auditor.set(keysOf(TENANT).decision(evaluationKey), '{"decision":"pass"}');
  const { items } = await gateHistory(reading, TENANT, subject.world.subject.missionId);
  expect(items).toMatchObject([{ decision: null, applicability: 'evidence_tampered' }]);
  await expect(showGate(reading, TENANT, subject.digest)).rejects.toMatchObject({ code: 'record_unreadable' });
});

test.each(['T-unknown', 'a'.repeat(64), `sha256:${'b'.repeat(64)}`])(
  '[inv-19] %s is nothing that was decided',
  async (id) => {
    await expect(showGate(reading, TENANT, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(gateHistory(reading, TENANT, id)).rejects.toMatchObject({ code: 'not_found' });
  },
);

test('[inv-19] what is no id is refused by name', async () => {
  await expect(showGate(reading, TENANT, '../secret')).rejects.toMatchObject({ code: 'schema_invalid' });
});

describe('a record of evidence', () => {
  const seen = (digest: string, ticket: string | null = null) => showEvidence(reading.reader, TENANT, digest, ticket);

  test('is shown by its digest, and verified where it is looked at: its bytes, and the index that lists it', async () => {
    const subject = await stagedSubject(stage());
    const { missionId: ticket } = subject.world.subject;
    const [check, run] = [await subject.check(stage()), await subject.run(stage())];
    for (const { digest } of [check, run]) {
      const answer = await seen(digestHex(digest), ticket);
      expect(answer).toMatchObject({ digest, problem: null, listed: true });
      expect(verificationOf(digestHex(digest), answer)).toEqual({ digest, intact: true, listed: true, whole: true });
      expect(recordText(answer, output)).toContain(answer.record?.schema);
    }
    expect(await seen(check.digest), 'what a check’s record does not say').toMatchObject({ listed: null });
    expect(await seen(check.digest, 'T-other')).toMatchObject({ listed: false });
  });

  test('[inv-02] that is in no index is not whole, nor is one that was altered, whoever says what it is', async () => {
    const { auditor } = stage();
    const subject = await stagedSubject(stage());
    const { digest } = await subject.run(stage());
    const genuine = await seen(digest);
    await auditor.rpop(keysOf(TENANT).subjectIndex(subject.digest));
    expect(verificationOf(digest, await seen(digest))).toMatchObject({ intact: true, listed: false, whole: false });
    await auditor.set(keysOf(TENANT).evidence('evidence', digest), '{"schema":"portcullis/verification-run/v1"}');
    const altered = await seen(digest);
    expect(verificationOf(digest, altered)).toMatchObject({ intact: false, whole: false });
    expect(recordText(altered, output)).toBe(`${digest}: malformed`);
    const other = { ...genuine, record: { ...genuine.record, runId: 'another' } } as typeof genuine;
    expect(verificationOf(digest, other), 'a gateway that lies').toMatchObject({ intact: false });
  });

  test('[inv-19] what is no digest, and what nothing is kept under, is said so', async () => {
    await expect(seen('../secret')).rejects.toMatchObject({ code: 'schema_invalid' });
    await expect(seen('a'.repeat(64))).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('findings of a ticket are listed over its subjects, with what became of each, and shown harmlessly', async () => {
  const { evidence, auditor } = stage();
  const first = await stagedSubject(stage());
  const { subject } = first.world;
  const { missionId: ticket } = subject;
  const run = await first.run(stage());
  expect(run.kind).toBe('recorded');
  const filed = (findingId: string, over = {}) => {
    const {
      schema: _s,
      tenant: _t,
      subjectDigest: _d,
      runId: _r,
      observedAt: _o,
      ...rest
    } = first.make.finding({ findingId, ...over });
    return rest;
  };
  const { findings } = await evidence.recordFindings({
    ...first.ref,
    runId: 'run-x',
    observedAt: 1,
    changedLines: [],
    findings: [
      filed('f-blocks', { failureScenario: 'It breaks.\u001b[2J\u202e' }),
      filed('f-beside', { standing: 'adjacent' }),
      filed('f-lost', { standing: 'advisory' }),
    ],
  });
  const [blocks, , lost] = findings;
  if (blocks === undefined || lost === undefined) throw new Error('nothing was filed');
  await auditor.del(keysOf(TENANT).evidence('finding', lost.digest));
  const manifest = {
    ...subject,
    stateRevision: subject.stateRevision + 1,
    priorBlockers: [{ findingId: 'f-blocks', digest: parseDigest('finding', blocks.digest) }],
  };
  await evidence.registerSubject({ tenant: TENANT, manifest });
  const next = new StagedSubject(worldOf('operation', { subject: manifest }));
  await evidence.recordDispositions({ ...next.ref, runId: 'run-y', dispositions: [], observedAt: 2 });

  const answer = await ticketFindings(reading.reader, TENANT, ticket);
  const [of, beside, gone] = ['f-blocks', 'f-beside', 'f-lost'].map((id) =>
    answer.items.find(({ findingId }) => findingId === id),
  );
  expect(of).toMatchObject({ problem: null, answered: { disposition: 'not_addressed', onSubjectDigest: next.digest } });
  expect(beside).toMatchObject({ finding: { standing: 'adjacent' }, answered: null });
  expect(gone).toMatchObject({ finding: null, problem: 'missing' });
  const text = [listText(answer.items, 0, output), ...answer.items.map(findingText)].join('\n');
  expect(text).toContain('not_addressed (not_mentioned)');
  expect(text).toContain('It breaks.\ufffd[2J\ufffd');
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
  await expect(ticketFindings(reading.reader, TENANT, 'T-nothing')).rejects.toMatchObject({ code: 'not_found' });
});
