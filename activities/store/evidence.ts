/** Evidence as the control worker writes it (user `control`): each record in one step with its index and its audit entry. */
import { canonicalText } from '../../schemas/canonical.ts';
import type { ContentDigest, Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { evidenceDigest, orderedEvidence, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { IndexEntry, PolicyHead, RevocationRecord, SubjectHead, TicketEntry } from '../../schemas/gate/heads.ts';
import { reasonDigest, type ReasonRecord } from '../../schemas/gate/human.ts';
import type { Grant } from '../../schemas/gate/request.ts';
import { orderedSubject, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import { keysOf, type EvidenceFamily } from '../../schemas/keys.ts';
import { EVIDENCE_LIMITS } from '../../policies/gates/input.ts';
import { chainArgs, chainKeys, withChainStep, type ChainStep, type MakeEntry } from './audit-chain.ts';
import type { StoreConnection } from './connect.ts';
import type { Addition, AdditionOutcome, EvidenceStore } from './gate-port.ts';
import { RedisGateReader } from './gate-reader.ts';
import { recordText } from './records/read.ts';
import { ADD_RECORD, MOVE_POLICY_HEAD, PUT_ONCE, REGISTER_SUBJECT, REVOKE } from './scripts/evidence.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** Needs a connection of the user `control`. */
export function evidenceStore(connection: StoreConnection): EvidenceStore {
  return new RedisEvidenceStore(connection);
}

/** Where a record of this kind is kept. */
export function familyOf(record: EvidenceRecord): EvidenceFamily {
  switch (record.schema) {
    case 'portcullis/check-attempt/v1':
    case 'portcullis/check-result/v1':
    case 'portcullis/verification-run/v1':
      return 'evidence';
    case 'portcullis/finding/v1':
      return 'finding';
    case 'portcullis/disposition/v1':
      return 'disposition';
    case 'portcullis/human-decision/v1':
      return 'human';
  }
}

class RedisEvidenceStore extends RedisGateReader implements EvidenceStore {
  async addEvidence(addition: Addition): Promise<AdditionOutcome> {
    const { tenant, record } = addition;
    const digest = evidenceDigest(record);
    const { answer } = await withChainStep(this.connection, tenant, addition.audit, (step) =>
      this.writeAddition(addition, digest, step),
    );
    switch (answer) {
      case 'recorded':
      case 'repeated':
        await this.readBack(keysOf(tenant).evidence(familyOf(record), digest), canonicalText(orderedEvidence(record)));
        return { kind: answer, digest };
      case 'execution_superseded':
      case 'subject_superseded':
        await this.keepStale(tenant, record, addition.staleAudit(answer));
        return { kind: 'stale', digest, reason: answer };
      case 'elsewhere':
        return { kind: 'moved' };
      case 'conflict':
        throw portcullisError('state_conflict', { what: `The record ${addition.name}, which is there already,` });
      default:
        return unexpectedReply([answer]);
    }
  }

  private async writeAddition(addition: Addition, digest: ContentDigest, step: ChainStep): Promise<string> {
    const { tenant, record, name, attempt, subject, current } = addition;
    const keys = keysOf(tenant);
    const { entries, length } = await this.readIndex(tenant, addition.index);
    // Before the name is looked for: the one that is there may be the caller's own, made by a retry that ran beside it.
    if (addition.atLength !== null && addition.atLength !== length) return 'elsewhere';
    const there = entries.find((entry) => entry.schema !== 'malformed' && entry.name === name);
    if (there !== undefined) return there.digest === digest ? 'repeated' : 'conflict';
    if (length >= EVIDENCE_LIMITS.items) {
      throw portcullisError('limit', { reason: `more than ${EVIDENCE_LIMITS.items} records of one subject or check` });
    }
    const family = familyOf(record);
    const entry: IndexEntry = { schema: 'portcullis/index-entry/v1', family, digest, name, attempt };
    const pairHead = keys.head(subject.missionId);
    const [answer] = await runScript(
      this.connection,
      ADD_RECORD,
      {
        record: keys.evidence(family, digest),
        index: addition.index,
        pairHead,
        // Every key has to be named; the one that is not looked at names another that is.
        subjectHead: current === null ? pairHead : keys.subjectHead(subject.missionId, current.gate),
        ...chainKeys(keys.auditHead, step),
      },
      {
        recordText: canonicalText(orderedEvidence(record)),
        entryText: recordText(entry),
        expectedLength: length,
        execution: subject.executionId,
        generation: subject.executionGeneration,
        subject: current?.digest ?? '',
        ...chainArgs(step),
      },
    );
    return answer ?? '';
  }

  async keepStale(tenant: string, record: EvidenceRecord, audit: MakeEntry): Promise<void> {
    const key = keysOf(tenant).evidence(familyOf(record), evidenceDigest(record));
    await this.putOnce(tenant, key, canonicalText(orderedEvidence(record)), audit, 'late record');
  }

  async registerSubject(
    subject: SubjectManifest,
    digest: Digest<'subject'>,
    gate: GateKind,
    audit: MakeEntry,
  ): Promise<void> {
    const { tenant, missionId, executionId, executionGeneration, stateRevision } = subject;
    const keys = keysOf(tenant);
    const subjectText = canonicalText(orderedSubject(subject));
    const entry: TicketEntry = { schema: 'portcullis/ticket-entry/v1', gate, subjectDigest: digest };
    const head: SubjectHead = {
      schema: 'portcullis/subject-head/v1',
      gate,
      subjectDigest: digest,
      executionId,
      executionGeneration,
      stateRevision,
    };
    const { answer } = await withChainStep(this.connection, tenant, audit, async (step) => {
      const listed = await this.subjectsOf(tenant, missionId);
      if (listed.some((one) => one.subjectDigest === digest)) return 'repeated';
      const [word] = await runScript(
        this.connection,
        REGISTER_SUBJECT,
        {
          subject: keys.subject(digest),
          index: keys.ticketIndex(missionId),
          pairHead: keys.head(missionId),
          subjectHead: keys.subjectHead(missionId, gate),
          ...chainKeys(keys.auditHead, step),
        },
        {
          subjectText,
          entryText: recordText(entry),
          expectedLength: listed.length,
          subjectHeadText: recordText(head),
          execution: executionId,
          generation: executionGeneration,
          stateRevision,
          ...chainArgs(step),
        },
      );
      return word ?? '';
    });
    if (answer === 'conflict') throw portcullisError('state_conflict', { what: 'The subject under this digest' });
    if (answer !== 'registered' && answer !== 'repeated') unexpectedReply([answer]);
    await this.readBack(keys.subject(digest), subjectText);
  }

  async writeReason(tenant: string, reason: ReasonRecord): Promise<ContentDigest> {
    const digest = reasonDigest(reason);
    const key = keysOf(tenant).reason(digest);
    const text = recordText(reason);
    await this.connection.run((redis) => redis.setnx(key, text));
    await this.readBack(key, text);
    return digest;
  }

  async writePolicyDocument(tenant: string, digest: ContentDigest, document: object): Promise<void> {
    const key = keysOf(tenant).policyDocument(digest);
    const text = recordText(document);
    await this.connection.run((redis) => redis.setnx(key, text));
    await this.readBack(key, text);
  }

  async movePolicyHead(tenant: string, from: PolicyHead | null, to: PolicyHead, audit: MakeEntry): Promise<void> {
    const keys = keysOf(tenant);
    const { answer } = await withChainStep(this.connection, tenant, audit, async (step) => {
      const [word] = await runScript(
        this.connection,
        MOVE_POLICY_HEAD,
        { policyHead: keys.policyHead(to.gate), epoch: keys.authorityEpoch, ...chainKeys(keys.auditHead, step) },
        { readText: from === null ? '' : recordText(from), policyHeadText: recordText(to), ...chainArgs(step) },
      );
      return word ?? '';
    });
    if (answer === 'head_moved') throw portcullisError('state_conflict', { what: `The policy of the gate ${to.gate}` });
    if (answer !== 'written') unexpectedReply([answer]);
  }

  writeGrant(grant: Grant, audit: MakeEntry): Promise<void> {
    const key = keysOf(grant.tenant).grant(grant.id, grant.revision);
    return this.putOnce(grant.tenant, key, recordText(grant), audit, `grant ${grant.id}`);
  }

  async revoke(tenant: string, record: RevocationRecord, audit: MakeEntry): Promise<void> {
    const keys = keysOf(tenant);
    await withChainStep(this.connection, tenant, audit, async (step) => {
      const [word] = await runScript(
        this.connection,
        REVOKE,
        {
          record: keys.revoked(record.authority),
          epoch: keys.authorityEpoch,
          ...chainKeys(keys.auditHead, step),
        },
        { recordText: recordText(record), ...chainArgs(step) },
      );
      return word ?? '';
    });
  }

  private async putOnce(tenant: string, key: string, text: string, audit: MakeEntry, what: string): Promise<void> {
    const { answer } = await withChainStep(this.connection, tenant, audit, async (step) => {
      const keys = { record: key, ...chainKeys(keysOf(tenant).auditHead, step) };
      const [word] = await runScript(this.connection, PUT_ONCE, keys, { recordText: text, ...chainArgs(step) });
      return word ?? '';
    });
    if (answer === 'conflict')
      throw portcullisError('state_conflict', { what: `The ${what}, which is there already,` });
    if (answer !== 'written' && answer !== 'same') unexpectedReply([answer]);
    await this.readBack(key, text);
  }

  /** Persisted means that an ordinary reply came and that a later read finds the same (DESIGN section 2). */
  private async readBack(key: string, text: string): Promise<void> {
    if ((await this.get(key)) === text) return;
    throw portcullisError('store_unavailable', { reason: 'what was written does not read back' });
  }
}
