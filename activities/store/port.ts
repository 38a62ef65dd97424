/**
 * The store as each process sees it: what it may read and write, and nothing else. Keys, kinds and writers are spec/store.md.
 *
 * Every call rejects with `store_unavailable` when the store does not answer in time, and nothing is then known to have
 * happened: writes are idempotent, so the caller repeats them.
 */
import type { AuditHead, SignedAuditEntry } from '../../schemas/audit.ts';
import type { ClaimCodeRecord, CredentialRecord } from '../../schemas/credential.ts';
import type { OutputStream } from '../../schemas/keys.ts';
import type { KillSwitch, PairHead, PairRoles } from '../../schemas/pair.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import type { NumberedTaskEvent, TaskEvent, TaskSnapshot } from '../../schemas/verify/task.ts';

/** Absent means nobody is there; unknown means it cannot be told yet (a gateway just started), so wait. */
export type Presence = 'idle' | 'busy' | 'absent' | 'unknown';

/** Reads that several processes share. */
export interface StoreReader {
  /** Milliseconds since the epoch, by the store's clock. */
  now(): Promise<number>;
  readRoles(tenant: string, pair: string): Promise<PairRoles | null>;
  readHead(tenant: string, pair: string): Promise<PairHead | null>;
  readTask(tenant: string, task: string): Promise<TaskSnapshot | null>;
  /** Events after `afterSeq`, in order, at most `limit`. */
  readEvents(tenant: string, task: string, afterSeq: number, limit: number): Promise<readonly NumberedTaskEvent[]>;
  /** Newest first; `before` is the created-at score of the last one of the previous page. */
  listTasks(tenant: string, pair: string, page: TaskPage): Promise<readonly TaskSnapshot[]>;
  readRequest(tenant: string, task: string): Promise<AcceptedRequest | null>;
  readResult(tenant: string, task: string): Promise<VerifyResult | null>;
  /** Where the pair's newest result is, by request sequence. */
  readVerification(tenant: string, pair: string): Promise<VerificationPointer | null>;
  /** The stored bytes of a stream, chunk by chunk, in order. */
  readOutput(tenant: string, task: string, stream: OutputStream): AsyncIterable<Uint8Array>;
  readChunk(tenant: string, task: string, stream: OutputStream, index: number): Promise<Uint8Array | null>;
  readPresence(seat: Seat): Promise<Presence>;
  /** The switch that is on, the installation's before the tenant's; `null` when neither is. */
  readKillSwitch(tenant: string): Promise<KillSwitch | null>;
}

/** The newest result of a pair: the projection that `pair:{id}:verification` keeps. */
export interface VerificationPointer {
  readonly schema: 'portcullis/verification-pointer/v1';
  readonly taskId: string;
  readonly sequence: number;
  readonly requestDigest: AcceptedRequest['requestDigest'];
  readonly status: VerifyResult['status'];
  readonly satisfied: boolean;
}

export interface TaskPage {
  readonly limit: number;
  readonly before: number | null;
}

/** One admission, decided in one script: messageId, claim and audit request together, or nothing. */
export interface Admission {
  readonly accepted: AcceptedRequest;
  readonly snapshot: TaskSnapshot;
  /** Hash of (principal, messageId), and the digest of the body that came with it. */
  readonly message: { readonly hash: string; readonly bodyDigest: string };
  /** Which run of the digest this would be; the script answers `moved` when the store is elsewhere. */
  readonly n: number;
}

export type AdmissionOutcome =
  | { readonly kind: 'accepted'; readonly taskId: string }
  /** The same request is under way, or its answer is still good: this is its task. */
  | { readonly kind: 'joined'; readonly taskId: string; readonly state: string }
  /** Somebody else moved the claim or the sequence: read the claim again and repeat. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'message_conflict' }
  | { readonly kind: 'kill_switch'; readonly reason: string };

/** Where the claim of a request digest stands. */
export interface ClaimView {
  /** The n that a new run would get. */
  readonly nextN: number;
  readonly nextSequence: number;
  /** The store's clock, milliseconds. */
  readonly now: number;
}

export interface EventSource {
  /** Who says it: `control`, `stdout`, `stderr`. */
  readonly source: string;
  /** Grows within the source; a repeated offset is the same event. */
  readonly offset: number;
}

export interface Rejection {
  readonly at: number;
  readonly pair: string;
  readonly principal: string;
  readonly reason: string;
  /** At most 256 bytes of what was sent. */
  readonly input: string;
}

/** What the gateway may do (Redis users `gateway` and, for reads of the operator API, `reader`). */
export interface GatewayStore extends StoreReader {
  readCredential(tenant: string, id: string): Promise<CredentialRecord | null>;
  /** Uses up a claim code; one winner. @throws `claim_code_invalid` */
  consumeClaimCode(tenant: string, codeHex: string): Promise<CredentialRecord>;
  viewClaim(tenant: string, pair: string, requestDigest: AcceptedRequest['requestDigest']): Promise<ClaimView>;
  admit(admission: Admission): Promise<AdmissionOutcome>;
  /** The start is known to have happened: the claim is open and no longer swept. */
  confirmStarted(accepted: AcceptedRequest): Promise<void>;
  /** The start certainly failed: the claim and the messageId are free again, the task ends as never run. */
  releaseClaim(accepted: AcceptedRequest, message: string): Promise<void>;
  /** Accepted requests older than `olderThanMs` whose start nobody confirmed; whoever finds one starts it again. */
  unconfirmedClaims(tenant: string, olderThanMs: number, limit: number): Promise<readonly AcceptedRequest[]>;
  /** Appends and folds one event; its number, or `null` when the task has ended (refused and counted). */
  appendEvent(tenant: string, task: string, from: EventSource, event: TaskEvent): Promise<number | null>;
  /** Write-once; `false` when that chunk was there with other bytes. */
  writeChunk(tenant: string, task: string, stream: OutputStream, index: number, bytes: Uint8Array): Promise<boolean>;
  /** Renews the seat's lease (TTL 5 s). `holder` is replica and connection. */
  holdPresence(seat: Seat, state: 'idle' | 'busy', holder: string): Promise<void>;
  /** Deletes the lease when `holder` still has it: a dropped connection. */
  dropPresence(seat: Seat, holder: string): Promise<void>;
  /** Absence means unknown for the next 8 s. */
  beginSettling(tenant: string): Promise<void>;
  /** Which boot of the executor started the first in line. */
  recordStarted(seat: Seat, workflowId: string, bootId: string): Promise<void>;
  /** Workflows of this seat that another boot started: they are lost. */
  startedByOthers(seat: Seat, bootId: string): Promise<readonly string[]>;
  recordRejection(tenant: string, rejection: Rejection): Promise<void>;
  /** Fraction of maxmemory in use, 0..1; at 0.8 admission refuses. */
  memoryUse(): Promise<number>;
}

export interface Place {
  /** 0 is first in line. */
  readonly rank: number;
  readonly presence: Presence;
}

/** Everything that ends a task, written by one script and read back. */
export interface Ending {
  readonly accepted: AcceptedRequest;
  readonly n: number;
  readonly result: VerifyResult;
  readonly event: Extract<TaskEvent, { type: 'status' }>;
  readonly from: EventSource;
  /** How long the same request is answered with this result; 0 for infrastructure outcomes. */
  readonly reuseSeconds: number;
  /** Makes the audit entry for where the chain stands; called again when the chain moved. */
  readonly audit: (head: AuditHead) => Promise<SignedAuditEntry>;
}

/** What the control worker may do (Redis user `control`). */
export interface ControlStore extends StoreReader {
  takePlace(seat: Seat, workflowId: string): Promise<Place>;
  /** Leaves the line; the workflow that is first now, if any. */
  leavePlace(seat: Seat, workflowId: string): Promise<string | null>;
  appendEvent(tenant: string, task: string, from: EventSource, event: TaskEvent): Promise<number | null>;
  confirmStarted(accepted: AcceptedRequest): Promise<void>;
  /**
   * Persists result, pointer, claim, audit entry and terminal event, reads them back and compares.
   * Repeating it with the same result is a no-op. @throws `state_conflict` when another result is already there.
   */
  endTask(ending: Ending): Promise<void>;
  writeRoles(tenant: string, roles: PairRoles): Promise<void>;
  writeHead(tenant: string, head: PairHead): Promise<void>;
  writeCredential(
    record: CredentialRecord,
    claimCode: { readonly codeHex: string; readonly record: ClaimCodeRecord } | null,
  ): Promise<void>;
  /** Ids of every credential that was ever written for the pair: `writeCredential` adds to that set in the same step. */
  pairCredentials(tenant: string, pair: string): Promise<readonly string[]>;
  /** Sets the state to revoked and raises the authority epoch. */
  revokeCredential(tenant: string, id: string): Promise<void>;
  /**
   * The same at the end of what the credential was made for. No authority was withdrawn from anybody: the epoch stays, so that a
   * landing does not read the end of another ticket's workspace as an incident.
   */
  retireCredential(tenant: string, id: string): Promise<void>;
  writeKillSwitch(tenant: string | null, value: KillSwitch): Promise<void>;
  appendAudit(tenant: string, audit: (head: AuditHead) => Promise<SignedAuditEntry>): Promise<AuditHead>;
  /** For what happens once: the same event with the same refs again adds nothing. @throws `record_unreadable` */
  appendAuditOnce(tenant: string, audit: (head: AuditHead) => Promise<SignedAuditEntry>): Promise<void>;
  readAuditHead(tenant: string): Promise<AuditHead>;
  readAuditEntry(tenant: string, n: number): Promise<SignedAuditEntry | null>;
}
