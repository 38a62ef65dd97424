/** Decisions over the real store: assembled from the indexes, written once, never taken from anybody's word. */
import { expect, test } from 'vitest';
import { auditWriter } from '../../activities/audit/write.ts';
import { evaluateSubject } from '../../activities/gate/evaluate.ts';
import { signDecision, isGenuine } from '../../activities/gate/signed-decision.ts';
import { decisionStanding } from '../../activities/gate/standing.ts';
import { generateSigningKey, verifyingKeyOf } from '../../activities/signing/keys.ts';
import { auditReader } from '../../activities/store/audit-chain.ts';
import { decisionStore } from '../../activities/store/decisions.ts';
import { recordText } from '../../activities/store/records/read.ts';
import type { SignedGateDecision } from '../../schemas/gate/decision.ts';
import { decisionDigest } from '../../schemas/gate/decision.ts';
import { indexKeysOf } from '../../activities/gate/assemble.ts';
import { keysOf } from '../../schemas/keys.ts';
import { digestOf } from '../../schemas/digest.ts';
import { stagedSubject, TENANT, useGateStage, type GateStage, type StagedSubject } from '../support/gate-stage.ts';

const stage = useGateStage();
const keys = keysOf(TENANT);

const standingOf = (
  { evidence }: GateStage,
  { evaluationKey }: { evaluationKey: SignedGateDecision['decision']['evaluationKey'] },
) => evidence.decisionApplies({ tenant: TENANT, evaluationKey });

async function kept(
  { needs }: GateStage,
  key: SignedGateDecision['decision']['evaluationKey'],
): Promise<SignedGateDecision> {
  const signed = await needs.evidence.readDecision(TENANT, key);
  if (signed === null) throw new Error('no decision is there');
  return signed;
}

async function codesOf(subject: StagedSubject): Promise<readonly string[]> {
  return (await subject.evaluate(stage())).reasons.map(({ code }) => code);
}

test('a subject with everything that its policy asks for passes, and the pass applies', async () => {
  const subject = await (await stagedSubject(stage())).passing(stage());
  const decided = await subject.evaluate(stage());
  expect(decided).toMatchObject({ decision: 'pass', reasons: [], reasonsOmitted: 0 });
  expect(await standingOf(stage(), decided)).toMatchObject({
    applicability: 'applicable',
    moved: [],
    authorises: true,
  });
  const signed = await kept(stage(), decided.evaluationKey);
  expect(isGenuine(signed, [verifyingKeyOf(stage().gateKey)])).toBe(true);
  expect(signed.decision.indexes).toEqual([
    { index: expect.stringMatching(/^index:check:/) as string, length: 2 },
    { index: expect.stringMatching(/^index:subject:/) as string, length: 1 },
  ]);
});

test('[inv-02] nothing recorded is no pass', async () => {
  const subject = await stagedSubject(stage());
  const decided = await subject.evaluate(stage());
  expect(decided.decision).toBe('blocked');
  expect(decided.reasons.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['check_missing', 'verifier_missing', 'criterion_missing']),
  );
});

test('[inv-02] a caller that hands in a cherry-picked list changes nothing: the failed attempt is judged', async () => {
  const subject = await stagedSubject(stage());
  await subject.check(stage(), 'failed');
  await subject.check(stage(), 'passed');
  await subject.run(stage());
  const request = { ...subject.ref, kind: subject.world.gate, n: 1 };
  const handedIn = { ...request, evidence: [subject.make.check('operation-result')], asOf: 0, decision: 'pass' };
  const decided = await evaluateSubject(stage().gate, handedIn);
  expect(decided.decision).not.toBe('pass');
  expect(decided.reasons.map(({ code }) => code)).toEqual(expect.arrayContaining(['check_failed', 'check_unstable']));
});

test('[inv-07] an attempt that was opened and never closed counts against the check', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  await evidence.openAttempt({ ...subject.ref, checkId: 'operation-result', dispatch: 'lost' });
  await subject.run(stage());
  expect(await codesOf(subject)).toContain('check_unavailable');
});

test('[inv-02] a record that an index lists and that is gone blocks', async () => {
  const { auditor } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const failed = await subject.check(stage(), 'failed');
  await auditor.del(keys.evidence('evidence', failed.digest));
  const seen = await stage().evidence.preflightSubject(subject.ref);
  expect(seen, 'no reviewer can mend that').toMatchObject({
    verifierNeeded: false,
    hits: [{ code: 'evidence_missing_record', ref: failed.digest }],
  });
  const decided = await subject.evaluate(stage());
  expect(decided.decision).toBe('blocked');
  expect(decided.reasons.map(({ code }) => code)).toContain('evidence_missing_record');
});

test('[inv-02] an index that lost its last entry after the decision takes the pass away', async () => {
  const { auditor } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const decided = await subject.evaluate(stage());
  await auditor.rpop(keys.subjectIndex(subject.digest));
  expect(await standingOf(stage(), decided)).toMatchObject({ applicability: 'evidence_tampered', authorises: false });
});

test('[inv-01] a record that was rewritten after the decision takes the pass away, and blocks the next one', async () => {
  const { auditor, needs } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const decided = await subject.evaluate(stage());
  const { entries } = await needs.evidence.readIndex(TENANT, keys.subjectIndex(subject.digest));
  const key = keys.evidence('evidence', entries[0]!.digest);
  const record = JSON.parse((await auditor.get(key))!) as { verifier: { class: string } };
  await auditor.set(key, recordText({ ...record, verifier: { ...record.verifier, class: 'other' } }));
  expect(await standingOf(stage(), decided)).toMatchObject({ applicability: 'evidence_tampered', authorises: false });
  const next = await subject.evaluate(stage());
  expect(next.decision).toBe('blocked');
  expect(next.reasons.map(({ code }) => code)).toContain('evidence_tampered');
});

test('[inv-02] an entry of an index that is no entry blocks', async () => {
  const { auditor } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  await auditor.rpush(keys.subjectIndex(subject.digest), 'passed');
  const decided = await subject.evaluate(stage());
  expect(decided).toMatchObject({ decision: 'blocked', reasons: [{ code: 'evidence_malformed' }] });
});

test('[inv-03] a subject whose bytes are not what its digest says is not judged', async () => {
  const { auditor } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const key = keys.subject(subject.digest);
  const manifest = JSON.parse((await auditor.get(key))!) as object;
  await auditor.set(key, recordText({ ...manifest, requiredChecks: [] }));
  await expect(subject.evaluate(stage())).rejects.toMatchObject({ code: 'record_unreadable' });
});

test('[inv-03] a mild policy under the digest of a strict one is not judged by', async () => {
  const { auditor } = stage();
  const subject = await stagedSubject(stage(), 'plan');
  const key = keys.policyDocument(subject.world.subject.gatePolicy.digest);
  const strict = (await auditor.get(key))!;
  await auditor.set(key, recordText({ ...(JSON.parse(strict) as object), verifierClasses: [] }));
  try {
    await expect(subject.evaluate(stage())).rejects.toMatchObject({ code: 'record_unreadable' });
  } finally {
    await auditor.set(key, strict);
  }
});

/** Entries of the chain that say that a decision on this subject was asked for. */
async function requestsOf(subject: string) {
  const { control } = stage();
  const { n } = await control.readAuditHead(TENANT);
  const entries = await Promise.all(Array.from({ length: n }, (_, at) => control.readAuditEntry(TENANT, at + 1)));
  return entries.filter(
    (signed) => signed?.entry.event === 'evaluation_requested' && signed.entry.refs['subject'] === subject,
  );
}

test('[inv-03] fifty evaluations at once and those after them converge on one record', async () => {
  const { auditor, connect, gateKey } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const workers = await Promise.all(Array.from({ length: 5 }, () => connect('gate')));
  const gates = workers.map((worker) => ({ store: decisionStore(worker), chain: auditReader(worker), key: gateKey }));
  const request = { ...subject.ref, kind: subject.world.gate, n: 1 };
  const decided = await Promise.all(
    Array.from({ length: 50 }, (_, index) => evaluateSubject(gates[index % gates.length]!, request)),
  );
  decided.push(await subject.evaluate(stage()));
  expect(new Set(decided.map(({ decisionDigest: digest }) => digest)).size).toBe(1);
  const asked = await requestsOf(subject.digest);
  expect(asked, 'the fifty are one request, and evaluate() is the first again').toHaveLength(1);
  expect(await stage().needs.evidence.decisionsOf(TENANT, subject.digest)).toEqual([decided[0]!.evaluationKey]);
  expect(await auditor.keys(`${keys.prefix}contradiction:*`)).toEqual([]);
  expect(await standingOf(stage(), decided[0]!)).toMatchObject({ authorises: true });
});

test('[inv-03] the same evaluation at another time answers with the first writer’s record', async () => {
  const { gate } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const first = await subject.evaluate(stage());
  const later = {
    ...gate,
    store: Object.assign(Object.create(gate.store) as typeof gate.store, {
      now: async () => (await gate.store.now()) + 3_600_000,
    }),
  };
  const second = await evaluateSubject(later, { ...subject.ref, kind: subject.world.gate, n: 2 });
  expect(second.decisionDigest).toBe(first.decisionDigest);
  expect(await standingOf(stage(), first)).toMatchObject({ applicability: 'applicable' });
});

test('[inv-01] a decision that was rewritten with another key is no decision, and is not overwritten', async () => {
  const { auditor, gate } = stage();
  const subject = await stagedSubject(stage());
  await subject.check(stage(), 'failed');
  const decided = await subject.evaluate(stage());
  const { decision } = await kept(stage(), decided.evaluationKey);
  const forged = { ...decision, decision: 'pass', reasons: [] } as const;
  const signed = signDecision({ decision: forged, digest: decisionDigest(forged) }, generateSigningKey());
  const key = keys.decision(decided.evaluationKey);
  await auditor.set(key, recordText(signed));
  expect(await standingOf(stage(), decided)).toMatchObject({
    decision: 'pass',
    applicability: 'evidence_tampered',
    authorises: false,
  });
  await expect(subject.evaluate(stage())).rejects.toMatchObject({ code: 'signature_invalid' });
  expect(await auditor.get(key)).toBe(recordText(signed));
  expect(await gate.store.isContradicted(TENANT, decided.evaluationKey)).toBe(true);
});

test('[inv-01] the gate’s own key does not make a decision of another subject this one’s', async () => {
  const { auditor, gateKey } = stage();
  const [good, bad] = [await (await stagedSubject(stage())).passing(stage()), await stagedSubject(stage())];
  await bad.check(stage(), 'failed');
  const [pass, fail] = [await good.evaluate(stage()), await bad.evaluate(stage())];
  const copied = await kept(stage(), pass.evaluationKey);
  await auditor.set(keys.decision(fail.evaluationKey), recordText(copied));
  expect(await standingOf(stage(), fail)).toMatchObject({
    authorises: false,
    moved: expect.arrayContaining(['evidence_tampered']) as string[],
  });
  expect(
    isGenuine({ ...copied, decision: { ...copied.decision, subjectDigest: bad.digest } }, [verifyingKeyOf(gateKey)]),
  ).toBe(false);
});

test('[inv-03] an evaluator that disagrees is an incident: both are kept and the decision counts for nothing', async () => {
  const { auditor, gate, gateKey, control } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const decided = await subject.evaluate(stage());
  const { decision } = await kept(stage(), decided.evaluationKey);
  const other = { ...decision, decision: 'rework', authorities: [] } as const;
  const first = signDecision({ decision: other, digest: decisionDigest(other) }, gateKey);
  await auditor.set(keys.decision(decided.evaluationKey), recordText(first));
  expect(await subject.evaluate(stage())).toMatchObject({ decision: 'rework', decisionDigest: first.digest });
  const { n } = await control.readAuditHead(TENANT);
  expect((await control.readAuditEntry(TENANT, n))?.entry).toMatchObject({ event: 'incident_opened', writer: 'gate' });
  await subject.evaluate(stage());
  expect(await auditor.keys(`${keys.contradicted(decided.evaluationKey)}*`)).toHaveLength(2);
  expect(await standingOf(stage(), decided)).toMatchObject({
    moved: expect.arrayContaining(['contradicted']) as string[],
    authorises: false,
  });
  expect(await gate.store.isContradicted(TENANT, decided.evaluationKey)).toBe(true);
});

test('while the kill switch is on nothing is decided', async () => {
  const { control } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const turn = (on: boolean) =>
    control.writeKillSwitch(TENANT, { schema: 'portcullis/kill-switch/v1', on, reason: 'drill', by: 'c-1', at: 1 });
  await turn(true);
  try {
    await expect(subject.evaluate(stage())).rejects.toMatchObject({
      code: 'kill_switch',
      details: { reason: 'drill' },
    });
    expect(await stage().needs.evidence.decisionsOf(TENANT, subject.digest)).toEqual([]);
    // Refused, and on record that it was asked for.
    const { n } = await control.readAuditHead(TENANT);
    expect((await control.readAuditEntry(TENANT, n))?.entry).toMatchObject({
      ...{ event: 'evaluation_requested', writer: 'gate', refs: { subject: subject.digest } },
    });
  } finally {
    await turn(false);
  }
  expect(await subject.evaluate(stage())).toMatchObject({ decision: 'pass' });
});

test('each decision comes with an anchor that stands at or beyond its audit entry', async () => {
  const { control } = stage();
  const subject = await stagedSubject(stage());
  const { anchor, evaluationKey, decisionDigest: digest } = await subject.evaluate(stage());
  const entry = await control.readAuditEntry(TENANT, anchor.head.n);
  expect(entry?.entry).toMatchObject({
    event: 'decided',
    writer: 'gate',
    refs: { evaluation: evaluationKey, decision: digest },
  });
});

test('[inv-05] control’s user cannot write a decision, and the gate’s user no evidence, subject, policy or index', async () => {
  const { auditor, connect, needs } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const decided = await subject.evaluate(stage());
  const signed = await kept(stage(), decided.evaluationKey);
  const before = await auditor.dbsize();
  const [control, gate] = [await connect('control'), await connect('gate')];
  const elsewhere = {
    ...signed,
    decision: { ...signed.decision, evaluationKey: digestOf('gate-evaluation', 'other') },
  };
  await expect(
    decisionStore(control).writeDecision(elsewhere, auditWriter(TENANT, needs.actionKey, 'decided', {})),
  ).rejects.toMatchObject({ code: 'internal' });
  for (const key of [
    keys.evidence('evidence', signed.digest),
    keys.evidence('human', signed.digest),
    keys.subject(subject.digest),
    keys.policyDocument(signed.digest),
    keys.revoked('principal:x'),
  ]) {
    await expect(gate.run((redis) => redis.setnx(`${key}0`, 'x'))).rejects.toMatchObject({ code: 'internal' });
  }
  for (const index of indexKeysOf(TENANT, subject.world.subject, subject.digest)) {
    await expect(gate.run((redis) => redis.rpush(index, 'x'))).rejects.toMatchObject({ code: 'internal' });
    await expect(control.run((redis) => redis.rpop(index))).rejects.toMatchObject({ code: 'internal' });
    await expect(control.run((redis) => redis.lset(index, 0, 'x'))).rejects.toMatchObject({ code: 'internal' });
  }
  expect(await auditor.dbsize()).toBe(before);
  expect(
    await decisionStanding(needs.evidence, needs.gateKeys, { tenant: TENANT, evaluationKey: decided.evaluationKey }),
  ).toMatchObject({ authorises: true });
});
