/** Attempts of checks: opened before they are dispatched, closed once with what came of them. */
import { portcullisError } from '../../schemas/errors.ts';
import type {
  AttemptRequest,
  CheckRecord,
  OpenedAttempt,
  RecordedCheck,
  SubjectRef,
} from '../../schemas/gate/activities.ts';
import type { CheckAttempt, CheckBinding, CheckResult } from '../../schemas/gate/check.ts';
import type { EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { IndexEntry } from '../../schemas/gate/heads.ts';
import { headOf } from '../../schemas/gate/subject.ts';
import { keysOf } from '../../schemas/keys.ts';
import { checkResultOf } from '../../policies/gates/check-result.ts';
import { addToCheck } from './add.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import { knownSubject, type KnownSubject } from './subjects.ts';

/** Times that a race for the next place in an index is run again. */
const MAX_RACES = 50;

/** @throws `not_found` for a check the subject does not name */
export async function openAttempt(needs: EvidenceDependencies, request: AttemptRequest): Promise<OpenedAttempt> {
  const known = await knownSubject(needs.evidence, request);
  const { binding, index } = bindingOf(known, request);
  const name = `attempt/${request.dispatch}`;
  for (let race = 0; race < MAX_RACES; race += 1) {
    const entries = await entriesOf(needs, request.tenant, index);
    const there = entries.find((entry) => entry.name === name);
    if (there?.attempt !== undefined && there.attempt !== null) return { kind: 'opened', attempt: there.attempt };
    const attempt = entries.filter(isAttempt).length + 1;
    const record: CheckAttempt = {
      schema: 'portcullis/check-attempt/v1',
      ...binding,
      attempt,
      openedAt: await needs.evidence.now(),
    };
    const atLength = entries.length;
    const opened = await addToCheck(needs, {
      ...request,
      known,
      record,
      name,
      index,
      attempt,
      atLength,
      event: 'check_started',
    });
    // Somebody else's attempt has taken the number: ours is counted again.
    if (opened.kind === 'moved') continue;
    return opened.kind === 'stale' ? { kind: 'stale', reason: opened.reason } : { kind: 'opened', attempt };
  }
  throw tooFast();
}

/** @throws `completed_unpersisted`, `schema_invalid`, `state_conflict`, `not_found` for an attempt that was never opened */
export async function recordCheck(needs: EvidenceDependencies, record: CheckRecord): Promise<RecordedCheck> {
  const known = await knownSubject(needs.evidence, record);
  const { binding, index } = bindingOf(known, record);
  const { tenant, attempt } = record;
  const name = `result/${attempt}`;
  const result = await resultOf(needs, record, { ...binding, attempt });
  const event = result.unavailable === null ? 'evidence_finalised' : 'unavailable';
  for (let race = 0; race < MAX_RACES; race += 1) {
    const entries = await entriesOf(needs, tenant, index);
    if (!entries.some((entry) => isAttempt(entry) && entry.attempt === attempt)) {
      throw portcullisError('not_found', { what: `attempt of ${record.checkId}`, id: attempt });
    }
    const closed = entries.find((entry) => entry.name === name);
    if (closed !== undefined) return await repeated(needs, tenant, closed, result);
    const atLength = entries.length;
    const given = { ...record, known, record: result, name, index, attempt, atLength, event } as const;
    const recorded = await addToCheck(needs, given);
    if (recorded.kind !== 'moved') return { ...recorded, status: result.status };
  }
  throw tooFast();
}

async function resultOf(
  { evidence, store }: EvidenceDependencies,
  { tenant, outcome }: CheckRecord,
  binding: CheckBinding,
): Promise<CheckResult> {
  switch (outcome.by) {
    case 'verify': {
      const [accepted, result, definition] = await Promise.all([
        store.readRequest(tenant, outcome.taskId),
        store.readResult(tenant, outcome.taskId),
        evidence.readCheckDefinition(tenant, binding.definitionDigest),
      ]);
      if (accepted === null) throw portcullisError('not_found', { what: 'task', id: outcome.taskId });
      if (result === null) throw portcullisError('completed_unpersisted');
      if (definition === null) {
        throw portcullisError('not_found', { what: 'check definition', id: binding.definitionDigest });
      }
      return checkResultOf({ binding, definition, accepted, result });
    }
    case 'nobody':
      return { ...observedHere(binding, await evidence.now()), status: 'inconclusive', unavailable: outcome.reason };
    case 'control': {
      const definition = await evidence.readCheckDefinition(tenant, binding.definitionDigest);
      if (definition?.kind !== 'builtin') {
        throw portcullisError('schema_invalid', { path: 'outcome', reason: 'is of a check that a command answers' });
      }
      return { ...observedHere(binding, await evidence.now()), status: outcome.status, refs: outcome.refs };
    }
  }
}

/** Seen by the control plane itself. */
function observedHere(binding: CheckBinding, observedAt: number): CheckResult {
  return {
    schema: 'portcullis/check-result/v1',
    ...binding,
    status: 'inconclusive',
    unavailable: null,
    counts: null,
    refs: [],
    attestation: 'control',
    observedAt,
    executor: null,
    toolchain: null,
    definitions: [],
  };
}

/** A retry finds its own result: what it says is compared, not when our clock was read. */
async function repeated(
  { evidence }: EvidenceDependencies,
  tenant: string,
  closed: IndexEntry,
  mine: CheckResult,
): Promise<RecordedCheck> {
  const [item] = await evidence.readItems(tenant, [closed]);
  const record: EvidenceRecord | null = item?.record ?? null;
  if (item !== undefined && record?.schema === 'portcullis/check-result/v1' && saysTheSame(record, mine)) {
    return { kind: 'recorded', digest: item.digest, status: record.status };
  }
  throw portcullisError('state_conflict', { what: `The attempt ${mine.attempt} of ${mine.checkId}, which is closed,` });
}

function saysTheSame(a: CheckResult, b: CheckResult): boolean {
  const refs = (result: CheckResult) =>
    result.refs
      .map(({ id, digest }) => `${id} ${digest}`)
      .sort()
      .join();
  return (
    a.status === b.status &&
    a.unavailable === b.unavailable &&
    a.attestation === b.attestation &&
    refs(a) === refs(b) &&
    (a.attestation === 'control' || a.observedAt === b.observedAt)
  );
}

function bindingOf(
  { subject }: KnownSubject,
  { tenant, checkId }: SubjectRef & { readonly checkId: string },
): { readonly binding: Omit<CheckBinding, 'attempt'>; readonly index: string } {
  const check = subject.requiredChecks.find((one) => one.checkId === checkId);
  if (check === undefined) throw portcullisError('not_found', { what: 'check of the subject', id: checkId });
  const binding = {
    tenant,
    checkId,
    definitionDigest: check.definitionDigest,
    head: headOf(subject),
    executionId: subject.executionId,
    executionGeneration: subject.executionGeneration,
  };
  return { binding, index: keysOf(tenant).checkIndex({ ...binding, ticket: subject.missionId }) };
}

async function entriesOf(
  { evidence }: EvidenceDependencies,
  tenant: string,
  index: string,
): Promise<readonly IndexEntry[]> {
  const { entries } = await evidence.readIndex(tenant, index);
  return entries.filter((entry) => entry.schema !== 'malformed');
}

function tooFast() {
  return portcullisError('store_unavailable', { reason: 'the index of this check moves too fast' });
}

const isAttempt = (entry: IndexEntry): boolean => entry.name.startsWith('attempt/');
