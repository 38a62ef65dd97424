/** Task queues. Their names carry tenant, pair, role and workspace generation (DESIGN section 5). */
import { portcullisError } from './errors.ts';
import { checkedName, isExecutorRole, type ExecutorRole } from './names.ts';

/** One workspace's seat: what presence, queues, credentials and sealed tokens are bound to. */
export interface Seat {
  readonly tenant: string;
  readonly pair: string;
  readonly role: ExecutorRole;
  readonly workspaceGeneration: number;
}

export function controlQueue(tenant: string): string {
  return `control/${checkedName('tenant', tenant)}`;
}

export function gateQueue(tenant: string): string {
  return `gate/${checkedName('tenant', tenant)}`;
}

/** The only queue that the executor of this seat may poll. */
export function executorQueue({ tenant, pair, role, workspaceGeneration }: Seat): string {
  return ['executor', checkedName('tenant', tenant), checkedName('pair', pair), role, workspaceGeneration].join('/');
}

/** @throws `schema_invalid` when the name is not an executor's queue. */
export function parseExecutorQueue(name: string): Seat {
  const match = /^executor\/([^/]+)\/([^/]+)\/([^/]+)\/([1-9][0-9]{0,8})$/.exec(name);
  const [, tenant, pair, role, generation] = match ?? [];
  if (tenant === undefined || pair === undefined || role === undefined || generation === undefined) return notAQueue();
  if (!isExecutorRole(role)) return notAQueue();
  return {
    tenant: checkedName('tenant', tenant),
    pair: checkedName('pair', pair),
    role,
    workspaceGeneration: Number(generation),
  };
}

function notAQueue(): never {
  throw portcullisError('schema_invalid', { path: 'task queue', reason: 'is not of the form executor/…' });
}
