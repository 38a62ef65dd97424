/** Evidence as control records it: once, in its index, and only of the execution that is current. */
import { expect, test } from 'vitest';
import { indexKeysOf } from '../../activities/gate/assemble.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import { registerPolicies } from '../../activities/evidence/policies.ts';
import { loadGateDocuments } from '../../activities/evidence/gate-documents.ts';
import { gatePolicyDigest } from '../../schemas/gate/policy.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import type { FiledFinding } from '../../schemas/gate/activities.ts';
import type { findingDigest } from '../../schemas/gate/finding.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import { principal, worldOf } from '../support/gate-fixtures.ts';
import { moveExecution, stagedSubject, StagedSubject, TENANT, useGateStage } from '../support/gate-stage.ts';
import { admitted, endingOf } from '../support/task-fixtures.ts';

const stage = useGateStage();
const keys = keysOf(TENANT);

/** Lengths of the subject's indexes: its own, then one for each check. */
async function lengthsOf({ world, digest }: StagedSubject): Promise<readonly number[]> {
  const { auditor } = stage();
  return Promise.all(indexKeysOf(TENANT, world.subject, digest).map((key) => auditor.llen(key)));
}

async function newestEvents(count: number): Promise<readonly string[]> {
  const { control } = stage();
  const { n } = await control.readAuditHead(TENANT);
  const entries = await Promise.all(
    Array.from({ length: count }, (_, back) => control.readAuditEntry(TENANT, n - back)),
  );
  return entries.map((signed) => signed?.entry.event ?? 'none');
}

function filed(subject: StagedSubject, over: Partial<FiledFinding> = {}): FiledFinding {
  const { schema: _, tenant: _t, subjectDigest: _s, runId: _r, observedAt: _o, ...finding } = subject.make.finding();
  return { ...finding, ...over };
}

test('[inv-08] every step that is retried adds nothing twice, to the index or to the audit chain', async () => {
  const { evidence, control } = stage();
  const subject = await stagedSubject(stage());
  const opened = { ...subject.ref, checkId: 'operation-result', dispatch: 'once' };
  const run = await subject.grantedRun(stage());
  const decision = subject.make.human({ observedAt: await control.now() });
  const findings = { ...subject.ref, runId: run.runId, findings: [filed(subject)], changedLines: [], observedAt: 1 };
  const everything = async () => [
    await evidence.registerSubject({ tenant: TENANT, manifest: subject.world.subject }),
    await evidence.openAttempt(opened),
    await evidence.recordCheck({ ...opened, attempt: 1, outcome: { by: 'control', status: 'passed', refs: [] } }),
    await evidence.recordRun({ tenant: TENANT, run }),
    await evidence.recordFindings(findings),
    await evidence.recordHumanDecision({ tenant: TENANT, decision }),
  ];
  const first = await everything();
  const [lengths, head] = [await lengthsOf(subject), await control.readAuditHead(TENANT)];
  expect(await everything()).toEqual(first);
  expect(await lengthsOf(subject)).toEqual(lengths);
  expect(lengths).toEqual([3, 2]);
  expect(await control.readAuditHead(TENANT)).toEqual(head);
});

test('[inv-08] attempts opened at once get a number each; the same dispatch opened at once gets one', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  const open = (dispatch: string) => evidence.openAttempt({ ...subject.ref, checkId: 'operation-result', dispatch });
  const opened = await Promise.all(['a', 'b', 'c', 'a', 'b', 'c', 'd'].map(open));
  const numbers = opened.map((one) => (one.kind === 'opened' ? one.attempt : 0));
  expect(new Set(numbers)).toEqual(new Set([1, 2, 3, 4]));
  expect(numbers[0]).toBe(numbers[3]);
  expect(await lengthsOf(subject)).toEqual([0, 4]);
});

test('[inv-09] a closed attempt is closed: no other outcome replaces it', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  await subject.check(stage(), 'failed');
  const again = { ...subject.ref, checkId: 'operation-result', attempt: 1 };
  for (const outcome of [
    { by: 'control', status: 'passed', refs: [] },
    { by: 'nobody', reason: 'timeout' },
  ] as const) {
    await expect(evidence.recordCheck({ ...again, outcome })).rejects.toMatchObject({ code: 'state_conflict' });
  }
  expect(await lengthsOf(subject)).toEqual([0, 2]);
});

test('an attempt that was never opened cannot be closed', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  const outcome = { by: 'control', status: 'passed', refs: [] } as const;
  const closing = evidence.recordCheck({ ...subject.ref, checkId: 'operation-result', attempt: 1, outcome });
  await expect(closing).rejects.toMatchObject({ code: 'not_found' });
  await expect(evidence.openAttempt({ ...subject.ref, checkId: 'another', dispatch: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('[inv-04] what a past execution says late is kept as history and is in no index', async () => {
  const { evidence, control, auditor } = stage();
  const subject = await stagedSubject(stage());
  const checkId = 'operation-result';
  const opened = await evidence.openAttempt({ ...subject.ref, checkId, dispatch: 'late' });
  expect(opened).toEqual({ kind: 'opened', attempt: 1 });
  const run = await subject.grantedRun(stage());
  await moveExecution(control, subject.world.subject, 'exec-2', 2);
  const outcome = { by: 'control', status: 'passed', refs: [] } as const;
  const late = [
    await evidence.recordCheck({ ...subject.ref, checkId, attempt: 1, outcome }),
    await evidence.recordRun({ tenant: TENANT, run }),
  ];
  for (const recorded of late) {
    expect(recorded).toMatchObject({ kind: 'stale', reason: 'execution_superseded' });
    expect(await auditor.exists(keys.evidence('evidence', recorded.digest))).toBe(1);
  }
  expect(await newestEvents(2)).toEqual(['stale_write_rejected', 'stale_write_rejected']);
  expect(await lengthsOf(subject)).toEqual([0, 1]);
  expect(await evidence.openAttempt({ ...subject.ref, checkId, dispatch: 'later' })).toEqual({
    kind: 'stale',
    reason: 'execution_superseded',
  });
  expect((await subject.evaluate(stage())).decision).toBe('blocked');
});

test('[inv-04] a pass of execution N is none for N+1, and the evidence of N is not counted there', async () => {
  const { evidence, control } = stage();
  const first = await (await stagedSubject(stage())).passing(stage());
  const decided = await first.evaluate(stage());
  const { subject } = first.world;
  await moveExecution(control, subject, 'exec-2', 2);
  expect(await evidence.decisionApplies({ tenant: TENANT, ...decided })).toMatchObject({
    decision: 'pass',
    applicability: 'execution_superseded',
    authorises: false,
  });
  const world = worldOf('operation', { subject: { ...subject, executionId: 'exec-2', executionGeneration: 2 } });
  const next = new StagedSubject(world);
  expect(await evidence.registerSubject({ tenant: TENANT, manifest: world.subject })).toMatchObject({ current: true });
  const again = await next.evaluate(stage());
  expect(again.decision).toBe('blocked');
  expect(again.reasons.map(({ code }) => code)).toEqual(expect.arrayContaining(['check_missing', 'verifier_missing']));
  // Nor when somebody puts the old records into the new index.
  const { entries } = await stage().needs.evidence.readIndex(TENANT, keys.subjectIndex(first.digest));
  await stage().auditor.rpush(keys.subjectIndex(next.digest), JSON.stringify(entries[0]));
  const foreign = await next.evaluate(stage());
  expect(foreign.decision).toBe('blocked');
  expect(foreign.reasons.map(({ code }) => code)).toContain('evidence_foreign');
});

test('[inv-04] two tickets with the same head and the same name of an execution share no evidence', async () => {
  const [mine, other] = [await stagedSubject(stage()), await stagedSubject(stage())];
  await other.passing(stage());
  expect(await lengthsOf(mine)).toEqual([0, 0]);
});

test('[inv-03] what moves after a pass takes it away, and says what it was', async () => {
  const { evidence, auditor, needs } = stage();
  const passed = async () => {
    const subject = await (await stagedSubject(stage())).passing(stage());
    const { evaluationKey } = await subject.evaluate(stage());
    const applies = async () => evidence.decisionApplies({ tenant: TENANT, evaluationKey });
    expect(await applies()).toMatchObject({ authorises: true });
    return { subject, applies, evaluationKey };
  };
  const negative = await passed();
  await negative.subject.check(stage(), 'failed');
  expect(await negative.applies()).toMatchObject({ applicability: 'contradicted', authorises: false });

  const revoked = await passed();
  const signed = await needs.evidence.readDecision(TENANT, revoked.evaluationKey);
  const [authority = ''] = signed?.decision.authorities ?? [];
  const { epoch } = await revoked.applies();
  await evidence.revokeAuthority({ tenant: TENANT, authority, by: 'c-operator' });
  expect(await revoked.applies()).toMatchObject({ applicability: 'revoked', epoch: epoch + 1 });

  const newer = await passed();
  const manifest = { ...newer.subject.world.subject, stateRevision: newer.subject.world.subject.stateRevision + 1 };
  await evidence.registerSubject({ tenant: TENANT, manifest });
  expect(await newer.applies()).toMatchObject({ applicability: 'subject_superseded' });

  const policy = await passed();
  const headKey = keys.policyHead('operation');
  const head = (await auditor.get(headKey))!;
  await auditor.set(
    headKey,
    head.replaceAll(
      policy.subject.world.subject.gatePolicy.digest,
      gatePolicyDigest({ ...policy.subject.world.policy, revision: 9 }),
    ),
  );
  expect(await policy.applies()).toMatchObject({ applicability: 'policy_superseded' });
  await auditor.set(headKey, head);
  expect(await policy.applies()).toMatchObject({ applicability: 'applicable' });
});

test('an older subject that is registered again, by a retried step, does not become the current one', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  const newer = { ...subject.world.subject, stateRevision: subject.world.subject.stateRevision + 1 };
  expect(await evidence.registerSubject({ tenant: TENANT, manifest: newer })).toMatchObject({ current: true });
  expect(await evidence.registerSubject({ tenant: TENANT, manifest: subject.world.subject })).toMatchObject({
    subjectDigest: subject.digest,
    current: false,
  });
  expect(await subject.run(stage())).toMatchObject({ kind: 'stale', reason: 'subject_superseded' });
  const older = { ...subject.world.subject, stateRevision: 1 };
  expect(await evidence.registerSubject({ tenant: TENANT, manifest: older })).toMatchObject({ current: false });
});

test('a subject that names another policy than the registered one is refused', async () => {
  const { evidence } = stage();
  const { subject } = worldOf('operation', { policy: { revision: 2, requiredCriteria: 'manifest' } });
  const manifest = { ...subject, tenant: TENANT };
  await expect(evidence.registerSubject({ tenant: TENANT, manifest })).rejects.toMatchObject({ code: 'not_found' });
  const [plan, operation] = [worldOf('plan'), worldOf('operation')];
  const mixed = { ...operation.subject, tenant: TENANT, gateDefinition: plan.subject.gateDefinition };
  await expect(evidence.registerSubject({ tenant: TENANT, manifest: mixed })).rejects.toMatchObject({
    code: 'policy_mismatch',
  });
});

const PINNED = {
  head_sha: 'b'.repeat(40),
  execution: 'exec-1',
  generation: 1,
  tree_before: null,
  tree_after: null,
};

/** A subject of a segment at `b…` with its tests as a delegated verification that ended like this. */
async function verified(executor: 'forge' | 'verifier', over: Partial<VerifyResult> = {}) {
  const { evidence, control, connect } = stage();
  const gateway = gatewayStore(await connect('gateway'));
  const [tests] = (await evidence.gateRequirements({ tenant: TENANT, gate: 'segment' })).checks;
  const accepts = tests?.accepts.find(
    ({ definition }) => definition.kind === 'command' && definition.template === 'node-test',
  );
  if (tests === undefined || accepts?.definition.kind !== 'command') throw new Error('no such check is shipped');
  const { definition, digest: definitionDigest } = accepts;
  const { checkId } = tests;
  const requiredChecks = [{ checkId, definitionDigest, timeSensitive: false, horizonSeconds: null }];
  const subject = await stagedSubject(stage(), 'segment', { requiredChecks });
  const { missionId, executionId: execution, executionGeneration: generation } = subject.world.subject;
  const admission = await admitted(gateway, {
    tenant: TENANT,
    pair: missionId,
    argv: definition.argv,
    timeoutSecs: definition.timeoutSecs,
    executor,
    subject: { headSha: 'b'.repeat(40), execution, generation },
  });
  const opened = await evidence.openAttempt({ ...subject.ref, checkId, dispatch: 'verify/1' });
  const { taskId } = admission.accepted;
  const record = { ...subject.ref, checkId, attempt: 1, outcome: { by: 'verify', taskId } } as const;
  expect(opened).toEqual({ kind: 'opened', attempt: 1 });
  const end = () =>
    control.endTask(
      endingOf(admission, over.status ?? 'completed', {
        attestation: executor === 'verifier' ? 'verifier' : 'producer',
        tests: { executed: 3, passed: 3, failed: 0, skipped: 0, provenance: 'reporter_file' },
        gate_grade:
          executor === 'verifier'
            ? { eligible: true, reasons: [] }
            : { eligible: false, reasons: ['producer_attestation'] },
        ...over,
      }),
    );
  return { subject, record, end };
}

test('[inv-05] a producer’s own green result tried as evidence never passes', async () => {
  const { evidence } = stage();
  const { subject, record, end } = await verified('forge');
  await end();
  expect(await evidence.recordCheck(record)).toMatchObject({ kind: 'recorded', status: 'passed' });
  await subject.run(stage());
  const decided = await subject.evaluate(stage());
  expect(decided).toMatchObject({ decision: 'blocked', reasons: [{ code: 'check_attestation', ref: 'tests' }] });
});

test('the same result of a verifier’s executor passes', async () => {
  const { evidence } = stage();
  const { subject, record, end } = await verified('verifier');
  await end();
  await evidence.recordCheck(record);
  await subject.run(stage());
  expect(await subject.evaluate(stage())).toMatchObject({ decision: 'pass' });
});

test('[inv-06] a verification whose result is not persisted closes no attempt', async () => {
  const { evidence } = stage();
  const { subject, record } = await verified('verifier');
  await expect(evidence.recordCheck(record)).rejects.toMatchObject({ code: 'completed_unpersisted' });
  expect((await lengthsOf(subject))[1]).toBe(1);
  await evidence.recordCheck({ ...record, outcome: { by: 'nobody', reason: 'unpersisted' } });
  await subject.run(stage());
  const decided = await subject.evaluate(stage());
  expect(decided).toMatchObject({ decision: 'blocked', reasons: [{ code: 'check_unavailable' }] });
});

test('[inv-04] a verification of another execution is not evidence of this one', async () => {
  const { evidence } = stage();
  const { record } = await verified('verifier');
  const other = await verified('verifier', { subject: { ...PINNED, generation: 2 } });
  await other.end();
  const swapped = { ...record, outcome: other.record.outcome };
  await expect(evidence.recordCheck(swapped)).rejects.toMatchObject({ code: 'schema_invalid' });
});

test('[inv-05] a run needs a grant of its own principal that stands', async () => {
  const { evidence, control } = stage();
  const subject = await stagedSubject(stage());
  const run = await subject.grantedRun(stage());
  const record = (over: Partial<typeof run>) => evidence.recordRun({ tenant: TENANT, run: { ...run, ...over } });
  await expect(record({ grant: { id: 'made-up', revision: 1 } })).rejects.toMatchObject({ code: 'not_found' });
  await expect(record({ verifier: { ...run.verifier, principal: principal('somebody-else') } })).rejects.toMatchObject({
    code: 'not_allowed',
  });
  const afterwards = (await control.now()) + 7_200_000;
  expect(await record({ runId: 'too-late', observedAt: afterwards })).toMatchObject({ reason: 'grant_expired' });
  await evidence.revokeAuthority({ tenant: TENANT, authority: `grant:${run.grant.id}@1`, by: 'c-operator' });
  expect(await record({})).toMatchObject({ kind: 'stale', reason: 'grant_revoked' });
  expect(await lengthsOf(subject)).toEqual([0, 0]);
});

test('[inv-02] a finding is given its standing here, and its name cannot be used for another', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  const base = {
    ...subject.ref,
    runId: 'run-1',
    changedLines: [{ path: 'src/login.ts', fromLine: 12, toLine: 12 }],
    observedAt: 1,
  };
  const blocking = filed(subject, { findingId: 'f-1', criterionId: null });
  const elsewhere = filed(subject, {
    findingId: 'f-2',
    criterionId: null,
    changedRange: {
      resourceId: 'repo',
      path: 'src/old.ts',
      fromLine: 1,
      toLine: 2,
      digest: blocking.changedRange!.digest,
    },
  });
  const recorded = await evidence.recordFindings({ ...base, findings: [blocking, elsewhere] });
  expect(recorded.findings.map(({ findingId, standing }) => [findingId, standing])).toEqual([
    ['f-1', 'blocking'],
    ['f-2', 'adjacent'],
  ]);
  const softer = { ...blocking, standing: 'advisory', severity: 'nit' } as const;
  await expect(evidence.recordFindings({ ...base, findings: [softer] })).rejects.toMatchObject({
    code: 'state_conflict',
  });
  await subject.passing(stage());
  expect(await subject.evaluate(stage())).toMatchObject({
    decision: 'rework',
    reasons: [{ code: 'blocker_open', ref: 'f-1' }],
  });
});

test('[inv-02] a prior blocker that a run does not mention stays open, on record', async () => {
  const { evidence, needs } = stage();
  const before = await stagedSubject(stage());
  const raised = filed(before, { findingId: 'f-9' });
  const { findings } = await evidence.recordFindings({
    ...before.ref,
    runId: 'run-1',
    findings: [raised],
    changedLines: [],
    observedAt: 1,
  });
  const digest = findings[0]!.digest;
  const { subject } = before.world;
  const manifest = {
    ...subject,
    stateRevision: subject.stateRevision + 1,
    priorBlockers: [{ findingId: 'f-9', digest: digest as ReturnType<typeof findingDigest> }],
  };
  await evidence.registerSubject({ tenant: TENANT, manifest });
  const next = new StagedSubject(worldOf('operation', { subject: manifest }));
  expect(next.digest).toBe(subjectDigest(manifest));
  await next.passing(stage());
  const said = { ...next.ref, runId: 'run-x', dispositions: [], observedAt: 1 };
  expect(await evidence.recordDispositions(said)).toMatchObject([{ kind: 'recorded' }]);
  expect(await evidence.recordDispositions(said)).toMatchObject([{ kind: 'recorded' }]);
  expect(await next.evaluate(stage())).toMatchObject({
    decision: 'rework',
    reasons: [{ code: 'prior_blocker_open', ref: 'f-9' }],
  });
  const stranger = {
    findingId: 'f-1',
    disposition: 'resolved',
    evidenceRefs: [],
    reasonCode: 'x',
    supersededBy: null,
  } as const;
  await expect(evidence.recordDispositions({ ...said, dispositions: [stranger] })).rejects.toMatchObject({
    code: 'schema_invalid',
  });
  // The record of the blocker is read too: gone, it blocks.
  await stage().auditor.del(keys.evidence('finding', digest));
  expect((await next.evaluate(stage())).decision).toBe('blocked');
  expect(await needs.evidence.subjectsOf(TENANT, subject.missionId)).toHaveLength(2);
});

test('preflight says that no verifier is needed when a check failed', async () => {
  const { evidence } = stage();
  const subject = await stagedSubject(stage());
  await subject.check(stage());
  expect(await evidence.preflightSubject(subject.ref)).toEqual({ verifierNeeded: true, hits: [] });
  await subject.check(stage(), 'failed');
  expect(await evidence.preflightSubject(subject.ref)).toMatchObject({
    verifierNeeded: false,
    hits: [{ code: 'check_failed', ref: 'operation-result' }],
  });
});

test('policies registered again change nothing; older or altered ones are refused', async () => {
  const { needs, control } = stage();
  const documents = await loadGateDocuments();
  const head = await control.readAuditHead(TENANT);
  await registerPolicies(needs, TENANT, documents);
  expect(await control.readAuditHead(TENANT)).toEqual(head);
  const altered = documents.gates.map((document) => ({
    ...document,
    policy: { ...document.policy, digest: gatePolicyDigest({ ...document.policy.record, id: 'altered' }) },
  }));
  await expect(registerPolicies(needs, TENANT, { checks: [], gates: altered })).rejects.toMatchObject({
    code: 'gate_policy_refused',
  });
});
