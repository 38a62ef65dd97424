/** Tasks as an operator sees them: every pair of the tenant, with request and result. */
import type { Response } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import { OUTPUT_STREAMS } from '../../schemas/keys.ts';
import { checkedName } from '../../schemas/names.ts';
import type { TaskAnswer, TaskListAnswer } from '../../schemas/operator-api.ts';
import type { TaskSnapshot } from '../../schemas/verify/task.ts';
import { GATEWAY_WORKFLOWS } from '../../schemas/verify/workflow.ts';
import { newestTasks } from '../a2a/list.ts';
import type { GatewayContext } from '../context.ts';
import { temporalFailure } from '../temporal.ts';

const MAX_LISTED = 500;
const TASK_ID = /^[A-Za-z0-9._-]{1,128}$/;

export interface TaskQuery {
  readonly pair: string | null;
  readonly limit: number;
}

/** @throws `schema_invalid` */
export function taskQuery(query: URLSearchParams): TaskQuery {
  const limit = query.get('limit') ?? '50';
  if (!/^[1-9][0-9]{0,3}$/.test(limit) || Number(limit) > MAX_LISTED) {
    throw portcullisError('schema_invalid', { path: 'limit', reason: `must be from 1 to ${MAX_LISTED}` });
  }
  const pair = query.get('pair');
  return { pair: pair === null ? null : checkedName('pair', pair), limit: Number(limit) };
}

export async function listTasks(
  ctx: GatewayContext,
  tenant: string,
  { pair, limit }: TaskQuery,
): Promise<TaskListAnswer> {
  const items =
    pair === null ? await tenantTasks(ctx, tenant, limit) : await newestTasks(ctx.reader, tenant, pair, limit);
  return { schema: 'portcullis/task-list/v1', items };
}

/** Which pairs a tenant has is in no one record, so runs are found by their search attribute; what they are is read here. */
async function tenantTasks(ctx: GatewayContext, tenant: string, limit: number): Promise<readonly TaskSnapshot[]> {
  const query = `WorkflowType = '${GATEWAY_WORKFLOWS.verify}' AND Tenant = '${checkedName('tenant', tenant)}'`;
  const ids: string[] = [];
  try {
    for await (const { memo } of ctx.temporal.workflow.list({ query, pageSize: limit })) {
      // Whoever admitted it made the id, the gateway or the control worker.
      const taskId: unknown = memo?.['taskId'];
      if (typeof taskId === 'string' && TASK_ID.test(taskId)) ids.push(taskId);
      if (ids.length >= limit) break;
    }
  } catch (thrown) {
    throw temporalFailure(thrown);
  }
  const tasks = await Promise.all(ids.map((id) => ctx.reader.readTask(tenant, id)));
  return tasks.filter((task) => task !== null).toSorted((a, b) => b.createdAt - a.createdAt);
}

/** @throws `not_found` */
export async function showTask(ctx: GatewayContext, tenant: string, id: string): Promise<TaskAnswer> {
  const task = await tenantTask(ctx, tenant, id);
  const [request, result] = await Promise.all([ctx.reader.readRequest(tenant, id), ctx.reader.readResult(tenant, id)]);
  return { schema: 'portcullis/task-view/v1', task, request, result };
}

/** Sends the stored bytes, chunk by chunk, as fast as they are read. @throws `not_found` before the first byte */
export async function sendOutput(
  ctx: GatewayContext,
  tenant: string,
  id: string,
  name: string,
  res: Response,
): Promise<void> {
  await tenantTask(ctx, tenant, id);
  const stream = OUTPUT_STREAMS.find((known) => known === name);
  if (stream === undefined) throw portcullisError('not_found', { what: 'stream', id: name.slice(0, 32) });
  // The bytes are the command's own: no browser may take them for a page.
  res.set({ 'Content-Type': 'application/octet-stream', 'X-Content-Type-Options': 'nosniff' });
  for await (const chunk of ctx.reader.readOutput(tenant, id, stream)) {
    if (res.destroyed) return;
    if (!res.write(chunk)) await drained(res);
  }
  res.end();
}

function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.once('drain', done).once('close', done);
  });
}

async function tenantTask(ctx: GatewayContext, tenant: string, id: string): Promise<TaskSnapshot> {
  const task = TASK_ID.test(id) ? await ctx.reader.readTask(tenant, id) : null;
  if (task === null) throw portcullisError('not_found', { what: 'task', id: id.slice(0, 128) });
  return task;
}
