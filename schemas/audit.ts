/** The audit chain (spec/gate.md section 8): entry n at its own write-once key, chained by digest, signed by its writer. */
import { digestOf, type Digest } from './digest.ts';

/** Events of the chain that exist so far; ids and digests only, no free text. */
export const AUDIT_EVENTS = [
  'verify_ended',
  'pair_opened',
  'credential_revoked',
  'kill_switch_on',
  'kill_switch_off',
  'workspace_orphaned',
  'policy_registered',
  /** A subject was registered for a gate. */
  'request_created',
  /** An attempt of a check was opened, before its dispatch. */
  'check_started',
  /** A check result or a verification run with an answer. */
  'evidence_finalised',
  /** A check or a run ended without an answer. */
  'unavailable',
  'finding_recorded',
  'disposition_recorded',
  'human_decided',
  'grant_recorded',
  'grant_revoked',
  /** What is on record was looked at before a reviewer is asked, and whether one still is. */
  'preflight_evaluated',
  /** A reviewer was asked: under which grant, with which approval. */
  'run_started',
  /** The approval of one review was minted: who may use it, for what. */
  'token_minted',
  /** It was used up: by whom, for which verdict on which review. Entered once its review is concluded. */
  'token_consumed',
  /** Before a branch is moved: to what, from where, on which decision. */
  'merge_intent',
  /** It was read back there. */
  'merged',
  /** A record of a past execution, subject or grant: kept, and in no index. */
  'stale_write_rejected',
  /** The gate worker was asked for a decision, whether or not one came of it. */
  'evaluation_requested',
  /** The gate worker wrote a decision. */
  'decided',
  'incident_opened',
  /** An operator ruled on it. */
  'incident_ruled',
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export interface AuditEntry {
  readonly schema: 'portcullis/audit/v1';
  readonly tenant: string;
  readonly n: number;
  /** Digest of entry n-1; `null` for the first. */
  readonly previous: Digest<'audit'> | null;
  readonly event: AuditEvent;
  /** Ids and digests, each under 256 characters. */
  readonly refs: Readonly<Record<string, string>>;
  /** Milliseconds, by the writer's clock. */
  readonly at: number;
  readonly writer: 'control' | 'gate';
  readonly keyId: string;
}

export interface SignedAuditEntry {
  readonly entry: AuditEntry;
  readonly digest: Digest<'audit'>;
  /** Ed25519 over the digest's text, base64. */
  readonly signature: string;
}

/** Where the chain stands: the next entry is `n + 1` and names this digest. */
export interface AuditHead {
  readonly n: number;
  readonly digest: Digest<'audit'> | null;
}

export function auditDigest(entry: AuditEntry): Digest<'audit'> {
  return digestOf('audit', entry);
}
