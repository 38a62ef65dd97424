/**
 * Who may ask, and about which tasks (spec/delegated-verification.md section 2). Role and pair come from the credential; what
 * a body says of them is compared with it, never believed.
 */
import { portcullisError } from '../../schemas/errors.ts';
import type { TaskSnapshot } from '../../schemas/verify/task.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { readRejectedTask } from './rejected.ts';

const TASK_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * SENTINEL's agent, for its own pair, and operators, for any pair of their tenant.
 * @throws `not_allowed` for a credential of another use, `role` for an agent of another role.
 */
export function requireRequester(principal: Principal): void {
  switch (principal.use) {
    case 'operator':
      return;
    case 'agent':
      if (principal.role === 'sentinel') return;
      throw portcullisError('role', { role: principal.role, reason: 'only SENTINEL asks for verification' });
    case 'executor':
      throw portcullisError('not_allowed', { action: 'request or read verifications' });
  }
}

/** The pair a request may be for. @throws `pair_mismatch` */
export function pairFor(principal: Principal, named: string): string {
  if (principal.use !== 'operator' && principal.pair !== named) throw portcullisError('pair_mismatch');
  return named;
}

/** A tenant that a path or a body names must be the credential's own. @throws `not_found`, as for a task that is not there. */
export function requireTenant(principal: Principal, named: string | undefined): void {
  if (named !== undefined && named !== '' && named !== principal.tenant) {
    throw portcullisError('not_found', { what: 'tenant', id: named.slice(0, 64) });
  }
}

/**
 * The caller's own task. A task of another pair or tenant, and one that never was, are answered alike.
 * @throws `not_found`, `store_unavailable`
 */
export async function ownTask(ctx: GatewayContext, principal: Principal, id: string): Promise<TaskSnapshot> {
  const task = TASK_ID.test(id) ? await ctx.store.readTask(principal.tenant, id) : null;
  if (task === null || !mayRead(principal, task.pair)) throw taskNotFound(id);
  return task;
}

/** What a refused request left: nothing in the store, everything in its id. `null` when the id is not of that kind. */
export function ownRejectedTask(ctx: GatewayContext, principal: Principal, id: string) {
  const rejected = readRejectedTask(ctx.keys.taskIdKey, principal.tenant, id);
  return rejected !== null && mayRead(principal, rejected.pair) ? rejected : null;
}

function mayRead(principal: Principal, pair: string): boolean {
  return principal.use === 'operator' || principal.pair === pair;
}

export function taskNotFound(id: string) {
  return portcullisError('not_found', { what: 'task', id: id.slice(0, 128) });
}
