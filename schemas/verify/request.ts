/** A request to verify, as it is after the gateway resolved it (spec/delegated-verification.md section 1). */
import { digestOf, type Digest } from '../digest.ts';
import type { ExecutorRole } from '../names.ts';

/** `repo`: a fresh export of the pinned commit. `worktree`: a private copy of the producer's live tree, never gate-grade. */
export const WORKING_DIRECTORIES = ['repo', 'worktree'] as const;
export type WorkingDirectory = (typeof WORKING_DIRECTORIES)[number];

/** The exact thing that is verified. */
export interface PinnedSubject {
  readonly headSha: string;
  readonly execution: string;
  readonly generation: number;
}

/** Everything that makes two requests the same one. Its canonical bytes are what is digested. */
export interface ResolvedRequest {
  readonly schema: 'portcullis/verify-request/v1';
  readonly tenant: string;
  readonly pair: string;
  readonly kind: 'command';
  readonly cwd: WorkingDirectory;
  readonly argv: readonly string[];
  readonly timeoutSecs: number;
  readonly expect: { readonly exitCode: number; readonly artifacts: readonly string[] };
  readonly executor: ExecutorRole;
  readonly subject: PinnedSubject;
  /** The wire's `attempt`: another number asks again on purpose. */
  readonly attempt: number;
}

export function requestDigest(request: ResolvedRequest): Digest<'request'> {
  return digestOf('request', request);
}

/** The accepted request: written once, before anything is dispatched, under `audit:a2a:{task}:request`. */
export interface AcceptedRequest {
  readonly schema: 'portcullis/accepted-request/v1';
  readonly taskId: string;
  readonly workflowId: string;
  readonly requestDigest: Digest<'request'>;
  readonly request: ResolvedRequest;
  /** Credential id of whoever asked; never a bearer. */
  readonly principal: string;
  readonly workspaceGeneration: number;
  readonly workspace: string;
  /** +1 for each request of the pair: a late older result never replaces a newer pointer. */
  readonly sequence: number;
  readonly policy: PolicyRef;
  /** Which routing policy chose the executor; `null` where none was asked. */
  readonly routing: RoutingRef | null;
  /** Milliseconds, by the store's clock. */
  readonly acceptedAt: number;
}

/** Which policy document ruled. */
export interface PolicyRef {
  readonly id: string;
  readonly revision: number;
  readonly digest: Digest<'policy'>;
  readonly template: string;
}

/** Which routing policy chose the executor. */
export type RoutingRef = Omit<PolicyRef, 'template'>;
