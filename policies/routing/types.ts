/** The routing policy: which executor a request goes to, and who may ask for which (spec/delegated-verification.md section 2). */
import type { Digest } from '../../schemas/digest.ts';
import type { ExecutorRole, Role } from '../../schemas/names.ts';
import type { WorkingDirectory } from '../../schemas/verify/request.ts';

export interface RoutingRule {
  readonly executor: ExecutorRole;
  /** What it may be asked to run the command on. */
  readonly cwd: readonly WorkingDirectory[];
  /** Roles of the credentials that may ask for it. */
  readonly askedBy: readonly Role[];
}

export interface RoutingPolicy {
  readonly schema: 'portcullis/routing-policy/v1';
  readonly id: string;
  readonly revision: number;
  /** Where a request goes that names no executor. */
  readonly defaults: Readonly<Record<WorkingDirectory, ExecutorRole>>;
  /** At most one for each executor; one without a rule is asked by nobody. */
  readonly rules: readonly RoutingRule[];
}

/** A policy with the digest of the document it came from. */
export interface LoadedRoutingPolicy {
  readonly policy: RoutingPolicy;
  readonly digest: Digest<'policy'>;
}
