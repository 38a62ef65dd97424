/**
 * The HTTP calls a workspace makes to the gateway, beside the door's gRPC on the same socket. Paths are built and parsed
 * here; bodies are JSON unless said otherwise. Every call but the exchange carries `Authorization: Bearer …`.
 */
import { checkedName } from './names.ts';
import type { ExecutorRole, Role } from './names.ts';
import type { OutputStream } from './keys.ts';

/** The largest chunk of output that one call may carry. */
export const MAX_CHUNK_BYTES = 64 * 1024;

export const WORKSPACE_PATHS = {
  /** POST {@link ClaimExchange} → {@link ClaimGrant}; 401 `claim_code_invalid`. */
  exchange: '/v1/claims/exchange',
  /** POST {@link ExecutorRegistration} → 204. Runs that another boot started are told that they are lost. */
  register: '/v1/executor/register',
  /** POST {@link RunStarted} → 204; before the command is spawned. */
  started: (task: string) => `/v1/executor/tasks/${encodeURIComponent(task)}/started`,
  /** PUT raw bytes, at most {@link MAX_CHUNK_BYTES} → 204. Repeating the same bytes is a no-op. */
  chunk: (task: string, stream: OutputStream, index: number) =>
    `/v1/executor/tasks/${encodeURIComponent(task)}/${stream}/${index}`,
  /** Smart HTTP of the pair's repository in the control plane's own bare store: all read, a producer's agent pushes `branchOf` its role. */
  repository: (tenant: string, pair: string) =>
    `/git/${checkedName('tenant', tenant)}/${checkedName('pair', pair)}.git`,
} as const;

export interface ClaimExchange {
  readonly tenant: string;
  readonly code: string;
}

/** What a workspace learns for its claim code; the bearer is told this once. */
export interface ClaimGrant {
  readonly schema: 'portcullis/claim-grant/v1';
  readonly bearer: string;
  readonly tenant: string;
  readonly pair: string;
  readonly role: Role;
  readonly workspace: string;
  readonly workspaceGeneration: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Only for use `executor`. */
  readonly executor: {
    readonly role: ExecutorRole;
    readonly namespace: string;
    readonly taskQueue: string;
    /** Ed25519 public key (PEM) that actions must verify against, and its id. */
    readonly actionKey: { readonly keyId: string; readonly pem: string };
  } | null;
}

export interface ExecutorRegistration {
  /** Random, new at each start of the executor process. */
  readonly bootId: string;
}

export interface RunStarted {
  readonly bootId: string;
  readonly workflowId: string;
}
