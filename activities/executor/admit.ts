/**
 * Whether the executor runs an action: it verifies the signature for itself, checks that the action is for it and still
 * timely, and puts the request through its own copy of the command policy (spec/delegated-verification.md section 3).
 */
import { evaluateCommand } from '../../policies/commands/evaluate.ts';
import type { LoadedCommandPolicy } from '../../policies/commands/types.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { Action, SignedAction } from '../../schemas/verify/action.ts';
import { verifyAction } from '../signing/action.ts';
import type { VerifyingKey } from '../signing/keys.ts';

/** Who this executor is, from its grant. */
export interface ExecutorIdentity extends Seat {
  readonly workspace: string;
  readonly actionKey: VerifyingKey;
}

/**
 * The action, when this executor may run it now.
 * @throws `signature_invalid`, `pair_mismatch`, `role`, `limit` (too late), `policy_mismatch`
 */
export function admitAction(
  signed: SignedAction,
  identity: ExecutorIdentity,
  policy: LoadedCommandPolicy,
  now: number,
): Action {
  const action = verifyAction(signed, identity.actionKey);
  checkAddress(action, identity);
  if (now > action.notAfter) throw portcullisError('limit', { reason: 'the action came after its deadline' });
  checkPolicy(action, policy);
  return action;
}

function checkAddress(action: Action, identity: ExecutorIdentity): void {
  if (action.tenant !== identity.tenant || action.pair !== identity.pair) throw portcullisError('pair_mismatch');
  const { role, workspace, workspaceGeneration } = action.executor;
  if (role !== identity.role) throw portcullisError('role', { role, reason: `this executor is ${identity.role}` });
  if (workspace !== identity.workspace || workspaceGeneration !== identity.workspaceGeneration) {
    throw portcullisError('role', { role, reason: 'the action is for another workspace' });
  }
}

/** Both sides must have read the same document and come to the same ruling, down to the last variable. */
function checkPolicy(action: Action, { policy, digest }: LoadedCommandPolicy): void {
  const { template, ...document } = action.policy;
  // Which exit codes a template permits was ruled on at admission and is no part of what runs.
  const expectExitCode = policy.templates.find(({ id }) => id === template)?.exitCodes[0] ?? 0;
  const ruling = evaluateCommand(policy, {
    argv: action.argvRequested,
    cwd: action.cwd,
    timeoutSecs: action.limits.timeoutSecs,
    expectExitCode,
    artifacts: action.artifacts,
  });
  if (!ruling.allowed) throw portcullisError('policy_mismatch');
  const ours = {
    document: { id: policy.id, revision: policy.revision, digest },
    template: ruling.template,
    argv: ruling.argvExecuted,
    environment: ruling.environment,
    limits: ruling.limits,
    counts: ruling.counts,
    prepare: ruling.prepare,
  };
  const theirs = {
    document,
    template,
    argv: action.argvExecuted,
    environment: action.environment,
    limits: action.limits,
    counts: action.counts,
    prepare: action.prepare,
  };
  if (canonicalText(ours) !== canonicalText(theirs)) throw portcullisError('policy_mismatch');
}
