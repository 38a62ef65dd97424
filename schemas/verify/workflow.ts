/**
 * What the gateway and the control worker agree on: names, inputs and results of the workflows that the gateway starts on
 * the tenant's control queue. Plain types; ids are made in `schemas/workflow-ids.ts`.
 */
import type { CredentialUse } from '../credential.ts';
import type { ExecutorRole, Role } from '../names.ts';
import type { KillSwitch, PairHead, PairRoles } from '../pair.ts';
import type { AcceptedRequest } from './request.ts';
import type { VerifyStatus } from './result.ts';

/** Workflow types, as registered with Temporal. */
export const GATEWAY_WORKFLOWS = {
  verify: 'verify',
  openPair: 'openPair',
  closePair: 'closePair',
  setKillSwitch: 'setKillSwitch',
} as const;

/** Argument of `verify` (id `verifyWorkflowId`). Started once for each claim; a cancel of the workflow cancels the task. */
export interface VerifyInput {
  readonly accepted: AcceptedRequest;
  /** Which run of the request's digest this is: the last part of the workflow id. */
  readonly n: number;
}

/** What `verify` returns, for the operator's eye only: consumers read the persisted result. */
export interface VerifyOutcome {
  readonly taskId: string;
  readonly status: VerifyStatus;
  readonly satisfied: boolean;
}

/** One credential that opening a pair makes, and the digest of the single-use code that fetches its bearer. */
export interface ClaimOffer {
  readonly role: Role;
  readonly use: CredentialUse;
  /** Workspace the holder lives in; empty for an agent outside any. */
  readonly workspace: string;
  readonly workspaceGeneration: number;
  /** 64 hex digits of SHA-256 over the code's text. The code itself never passes through Temporal. */
  readonly codeDigestHex: string;
  /** Seconds the credential lives from its making. */
  readonly lifetimeSecs: number;
}

/** Argument of `openPair` (id `openPairWorkflowId`). Opening an open pair again moves its head and adds credentials. */
export interface OpenPairInput {
  readonly tenant: string;
  readonly pair: string;
  /** Name of the bundle file in the incoming directory, as the import call answered it; `null` keeps the commits there. */
  readonly importId: string | null;
  readonly headSha: string;
  /** Commit the change is judged against; `null` when there is none. */
  readonly baseSha: string | null;
  readonly execution: string;
  readonly generation: number;
  readonly roles: readonly Role[];
  readonly routing: PairRoles['routing'];
  /** Workspace name and generation of each executor role that has one. */
  readonly workspaces: Readonly<Partial<Record<ExecutorRole, { readonly name: string; readonly generation: number }>>>;
  readonly baseBranch: string;
  readonly claims: readonly ClaimOffer[];
  /** Credential id of the operator who asked. */
  readonly by: string;
}

export interface OpenPairResult {
  readonly pair: string;
  readonly head: PairHead;
  readonly roles: PairRoles;
  /** In the order of the claims. */
  readonly credentials: readonly { readonly role: Role; readonly use: CredentialUse; readonly credentialId: string }[];
}

/** Argument of `closePair` (id `closePairWorkflowId`): revokes every credential of the pair. */
export interface ClosePairInput {
  readonly tenant: string;
  readonly pair: string;
  readonly by: string;
}

export interface ClosePairResult {
  readonly pair: string;
  /** Ids that were active before. */
  readonly revoked: readonly string[];
}

/** Argument of `setKillSwitch` (id `killSwitchWorkflowId`). */
export interface SetKillSwitchInput {
  readonly tenant: string;
  /** `installation` is the switch for every tenant. */
  readonly scope: 'tenant' | 'installation';
  readonly on: boolean;
  readonly reason: string;
  readonly by: string;
  /** Also cancel the verifies of the tenant that run now. */
  readonly cancelRunning: boolean;
}

export interface SetKillSwitchResult {
  readonly value: KillSwitch;
  /** Workflows that were told to cancel. */
  readonly cancelled: number;
  /** Open tickets that were told to stop. */
  readonly tickets: number;
}
