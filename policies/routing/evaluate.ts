/**
 * Which executor a request goes to. The policy says what is permitted at all; what the pair was opened with only narrows it.
 *
 * @example routeRequest(policy, { asked: undefined, cwd: 'repo', by: 'sentinel', pair }) // { allowed: true, executor: 'verifier' }
 */
import type { ExecutorRole, Role } from '../../schemas/names.ts';
import type { PairRoles } from '../../schemas/pair.ts';
import type { WorkingDirectory } from '../../schemas/verify/request.ts';
import type { RoutingPolicy } from './types.ts';

export interface RoutingAsk {
  /** What the request named; `undefined` for the default. */
  readonly asked: ExecutorRole | undefined;
  readonly cwd: WorkingDirectory;
  /** Role of the credential that asks. */
  readonly by: Role;
  readonly pair: Pick<PairRoles, 'roles' | 'routing'>;
}

export type RoutingRuling =
  | { readonly allowed: true; readonly executor: ExecutorRole }
  /** `executor`: the one that was named or is the default; `reason`: half a sentence that says which rule refuses it. */
  | { readonly allowed: false; readonly executor: ExecutorRole; readonly reason: string };

/** Pure. A named executor is never replaced by another one: whoever asked for it learns that it is refused. */
export function routeRequest(policy: RoutingPolicy, ask: RoutingAsk): RoutingRuling {
  const first = ask.asked ?? policy.defaults[ask.cwd];
  const refusal = refusalOf(policy, ask, first);
  if (refusal === null) return { allowed: true, executor: first };
  // A pair that does without the policy's default has one of its own.
  const own = ask.pair.routing.default;
  if (ask.asked === undefined && refusalOf(policy, ask, own) === null) return { allowed: true, executor: own };
  return { allowed: false, executor: first, reason: refusal };
}

function refusalOf(policy: RoutingPolicy, { cwd, by, pair }: RoutingAsk, executor: ExecutorRole): string | null {
  const rule = policy.rules.find((one) => one.executor === executor);
  if (rule === undefined) return 'the routing policy sends requests to no such executor';
  if (!rule.askedBy.includes(by)) return `the routing policy does not let ${by} ask for it`;
  if (!rule.cwd.includes(cwd)) return `the routing policy sends no request for a ${cwd} there`;
  if (!pair.routing.permitted.includes(executor) || !pair.roles.includes(executor)) {
    return 'the routing of this pair does not send requests there';
  }
  return null;
}
