/** Fills in what a request leaves open (head, execution, executor) from what control wrote of the pair, and rules on it. */
import { evaluateCommand } from '../../policies/commands/evaluate.ts';
import { routeRequest } from '../../policies/routing/evaluate.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import type { PairHead, PairRoles } from '../../schemas/pair.ts';
import type { PinnedSubject, PolicyRef, ResolvedRequest, RoutingRef } from '../../schemas/verify/request.ts';
import type { WireRequest } from '../../schemas/verify/request.schema.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';

export interface Resolved {
  readonly request: ResolvedRequest;
  readonly workspace: { readonly name: string; readonly generation: number };
  readonly policy: PolicyRef;
  readonly routing: RoutingRef;
}

/**
 * @throws `not_found` for a pair that is not open, `not_allowed` for an agent of another execution, `state_conflict` for a subject that is not the current one,
 *   `executor_unavailable` without a workspace, `role` and the codes of the command policy when it is not permitted
 */
export async function resolveRequest(
  ctx: GatewayContext,
  principal: Principal,
  pair: string,
  { verify }: WireRequest,
): Promise<Resolved> {
  const { tenant } = principal;
  const [roles, head] = await Promise.all([ctx.store.readRoles(tenant, pair), ctx.store.readHead(tenant, pair)]);
  if (roles === null || head === null) throw portcullisError('not_found', { what: 'pair', id: pair });
  requireExecution(principal, head);
  const subject = subjectOf(head, verify.subject);
  const executor = routed(ctx, principal, roles, verify);
  const policy = ruled(ctx, verify);
  const workspace = roles.workspaces[executor];
  if (workspace === undefined) {
    throw portcullisError('executor_unavailable', { reason: `the pair has no workspace of role ${executor}` });
  }
  const request: ResolvedRequest = {
    schema: 'portcullis/verify-request/v1',
    tenant,
    pair,
    kind: verify.kind,
    cwd: verify.cwd,
    argv: verify.argv,
    timeoutSecs: verify.timeout_secs,
    expect: { exitCode: verify.expect.exit_code, artifacts: verify.expect.artifacts },
    executor,
    subject,
    attempt: verify.attempt,
  };
  const { id, revision } = ctx.routingPolicy.policy;
  return { request, workspace, policy, routing: { id, revision, digest: ctx.routingPolicy.digest } };
}

/** Nothing of execution N authorises execution N+1 (invariant 4): an agent asks with a credential of the current one. */
function requireExecution({ use, execution }: Principal, head: PairHead): void {
  if (use === 'agent' && execution !== head.execution) {
    throw portcullisError('not_allowed', { action: `ask in execution ${head.execution}: it is of another` });
  }
}

/** Evidence about another commit or execution would be evidence about nothing (invariant 4). */
function subjectOf(head: PairHead, named: WireRequest['verify']['subject']): PinnedSubject {
  const { headSha, execution, generation } = head;
  const same =
    named === undefined ||
    (named.head_sha === headSha && named.execution === execution && named.generation === generation);
  if (!same) throw portcullisError('state_conflict', { what: 'The subject of the pair' });
  return { headSha, execution, generation };
}

function routed(
  { routingPolicy }: GatewayContext,
  { role: by }: Principal,
  pair: PairRoles,
  { executor: asked, cwd }: WireRequest['verify'],
): ExecutorRole {
  const ruling = routeRequest(routingPolicy.policy, { asked, cwd, by, pair });
  if (ruling.allowed) return ruling.executor;
  throw portcullisError('role', { role: ruling.executor, reason: ruling.reason });
}

function ruled(ctx: GatewayContext, verify: WireRequest['verify']): PolicyRef {
  const { policy, digest } = ctx.commandPolicy;
  const ruling = evaluateCommand(policy, {
    argv: verify.argv,
    cwd: verify.cwd,
    timeoutSecs: verify.timeout_secs,
    expectExitCode: verify.expect.exit_code,
    artifacts: verify.expect.artifacts,
  });
  if (ruling.allowed) return { id: policy.id, revision: policy.revision, digest, template: ruling.template };
  // Each code's sentence names its detail differently; the spare ones fill nothing.
  throw portcullisError(ruling.reason, {
    reason: ruling.detail,
    tool: ruling.detail,
    slot: 'an argument',
    code: verify.expect.exit_code,
  });
}
