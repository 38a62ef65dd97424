/**
 * The store as gates need it: reads that control, gate and reader share, what only control writes, and what only the gate
 * worker writes (spec/store.md). Calls reject with `store_unavailable` when the store does not answer, `record_unreadable` for
 * what is not as it should be.
 */
import type { AuditHead } from '../../schemas/audit.ts';
import type { ContentDigest, Digest } from '../../schemas/digest.ts';
import type { CheckDefinition } from '../../schemas/gate/check.ts';
import type { StaleReason } from '../../schemas/gate/activities.ts';
import type { SignedGateDecision } from '../../schemas/gate/decision.ts';
import type { EvidenceItem, EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { IndexEntry, PolicyHead, RevocationRecord, SubjectHead, TicketEntry } from '../../schemas/gate/heads.ts';
import type { GateDefinition, GatePolicy } from '../../schemas/gate/policy.ts';
import type { ReasonRecord } from '../../schemas/gate/human.ts';
import type { Grant } from '../../schemas/gate/request.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import type { KillSwitch, PairHead } from '../../schemas/pair.ts';
import type { MakeEntry } from './audit-chain.ts';

/** An index as it stands. */
export interface IndexView {
  /** Below the tenant's prefix, as decisions name it. */
  readonly name: string;
  readonly length: number;
  /** From where it was asked for; what cannot be read as an entry is `malformed` and never left out. */
  readonly entries: readonly (IndexEntry | MalformedEntry)[];
}

export interface MalformedEntry {
  readonly schema: 'malformed';
  /** Of the entry's own bytes. */
  readonly digest: ContentDigest;
}

/** What an index or a subject names: the family says where the record is. */
export type NamedRecord = Pick<IndexEntry, 'family' | 'digest'>;

export interface GateReader {
  /** Milliseconds since the epoch, by the store's clock. */
  now(): Promise<number>;
  readHead(tenant: string, pair: string): Promise<PairHead | null>;
  readKillSwitch(tenant: string): Promise<KillSwitch | null>;
  /** @throws `record_unreadable` also when its bytes do not give its digest, as the next three do */
  readSubject(tenant: string, digest: Digest<'subject'>): Promise<SubjectManifest | null>;
  readPolicy(tenant: string, digest: Digest<'policy'>): Promise<GatePolicy | null>;
  readDefinition(tenant: string, digest: Digest<'gate-definition'>): Promise<GateDefinition | null>;
  readCheckDefinition(tenant: string, digest: Digest<'definition'>): Promise<CheckDefinition | null>;
  readPolicyHead(tenant: string, gate: GateKind): Promise<PolicyHead | null>;
  readSubjectHead(tenant: string, ticket: string, gate: GateKind): Promise<SubjectHead | null>;
  /** A person's words. */
  readReason(tenant: string, digest: ContentDigest): Promise<ReasonRecord | null>;
  readGrant(tenant: string, id: string, revision: number): Promise<Grant | null>;
  /** `key` as `keysOf` made it; `from` counts entries from 0. */
  readIndex(tenant: string, key: string, from?: number): Promise<IndexView>;
  /** How long an index is, by the name that a decision gives it. */
  indexLength(tenant: string, name: string): Promise<number>;
  /** One item for each, in order; a missing, altered or malformed record is an item that says so. */
  readItems(tenant: string, named: readonly NamedRecord[]): Promise<readonly EvidenceItem[]>;
  /** Those of the authorities that were revoked. */
  readRevoked(tenant: string, authorities: readonly string[]): Promise<ReadonlySet<string>>;
  readEpoch(tenant: string): Promise<number>;
  /** As it is stored: whoever relies on it verifies it (`verifyDecision`). */
  readDecision(tenant: string, key: Digest<'gate-evaluation'>): Promise<SignedGateDecision | null>;
  isContradicted(tenant: string, key: Digest<'gate-evaluation'>): Promise<boolean>;
  /** Evaluation keys of the decisions about a subject, oldest first. */
  decisionsOf(tenant: string, subject: Digest<'subject'>): Promise<readonly Digest<'gate-evaluation'>[]>;
  /** Subjects of a ticket in the order in which they were registered. */
  subjectsOf(tenant: string, ticket: string): Promise<readonly TicketEntry[]>;
}

/** One record for an index. */
export interface Addition {
  readonly tenant: string;
  readonly record: EvidenceRecord;
  /** What the record is of; a second one of the name is refused. */
  readonly name: string;
  readonly attempt: number | null;
  /** Key of the index it belongs to. */
  readonly index: string;
  readonly subject: SubjectManifest;
  /** For records of one subject: it has to be the current one of this gate. `null` for records of a head. */
  readonly current: { readonly gate: GateKind; readonly digest: Digest<'subject'> } | null;
  /** Only when the index is this long: for a record that counts those before it. `null` at whatever length it has. */
  readonly atLength: number | null;
  readonly audit: MakeEntry;
  /** Makes the audit entry for a record that came too late. */
  readonly staleAudit: (reason: StaleReason) => MakeEntry;
}

export type AdditionOutcome =
  /** The index is not as long as `atLength`: look again. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'recorded'; readonly digest: Digest<'evidence' | 'finding'> }
  | { readonly kind: 'repeated'; readonly digest: Digest<'evidence' | 'finding'> }
  | { readonly kind: 'stale'; readonly digest: Digest<'evidence' | 'finding'>; readonly reason: StaleReason };

/** What the control worker may do. */
export interface EvidenceStore extends GateReader {
  /**
   * Record, index entry and audit entry in one step, read back. A late one is kept outside the index.
   * @throws `state_conflict` when the index has another record of that name, `limit` when it is full
   */
  addEvidence(addition: Addition): Promise<AdditionOutcome>;
  /** Keeps a late record as history: under its digest, in no index. */
  keepStale(tenant: string, record: EvidenceRecord, audit: MakeEntry): Promise<void>;
  /** @throws `state_conflict` when other bytes are under its digest */
  registerSubject(subject: SubjectManifest, digest: Digest<'subject'>, gate: GateKind, audit: MakeEntry): Promise<void>;
  /** A person's words under their digest, read back. Repeatable. */
  writeReason(tenant: string, reason: ReasonRecord): Promise<ContentDigest>;
  /** A policy, a gate definition or a check definition under its digest. Repeatable. */
  writePolicyDocument(tenant: string, digest: ContentDigest, document: object): Promise<void>;
  /** @throws `state_conflict` when the head is no longer the one that was read */
  movePolicyHead(tenant: string, from: PolicyHead | null, to: PolicyHead, audit: MakeEntry): Promise<void>;
  /** @throws `state_conflict` when that revision is there with other content */
  writeGrant(grant: Grant, audit: MakeEntry): Promise<void>;
  revoke(tenant: string, record: RevocationRecord, audit: MakeEntry): Promise<void>;
}

export type DecisionOutcome =
  | { readonly kind: 'written' }
  /** Somebody was first: read it, compare, overwrite nothing. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'kill_switch'; readonly reason: string };

/** What the gate worker may do. */
export interface DecisionStore extends GateReader {
  writeDecision(signed: SignedGateDecision, audit: MakeEntry): Promise<DecisionOutcome>;
  /** Writes the one that disagrees beside the one that is there. Repeatable. */
  writeContradiction(signed: SignedGateDecision, audit: MakeEntry): Promise<void>;
  /** For what happens once: the same event with the same refs again adds nothing. @throws `record_unreadable` */
  appendAuditOnce(tenant: string, audit: MakeEntry): Promise<void>;
  readAuditHead(tenant: string): Promise<AuditHead>;
}
