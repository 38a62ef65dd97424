/** Follows a task to its end and tells, on stderr, what happens meanwhile. Interrupted, it cancels the task first. */
import { setTimeout as delay } from 'node:timers/promises';
import type { VerifyTask } from '../../client/a2a.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { hasEnded } from '../../client/watch.ts';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import type { CliContext } from '../context.ts';

/** How long an interrupted command waits for the end of its task. */
const CANCEL_MS = 10_000;

/** @throws `stream_cut`, `interrupted` */
export async function followTask(client: GatewayClient, context: CliContext, task: VerifyTask): Promise<VerifyTask> {
  const { output, signal } = context;
  if (hasEnded(task)) {
    if (task.state !== 'rejected')
      output.progress(`task        ${task.id}: answered by an earlier run (--again asks anew)`);
    return task;
  }
  output.progress(`task        ${task.id}`);
  try {
    const bytes = { stdout: 0, stderr: 0 };
    for await (const seen of client.watch(task.id, { signal })) {
      if (seen.kind === 'end') return seen.task;
      if (seen.kind === 'cut') output.progress(`            the stream was cut (${seen.error.code}); resuming`);
      if (seen.kind === 'event') output.progress(eventLine(seen.numbered.event, bytes));
    }
    throw portcullisError('stream_cut');
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    output.progress(await cancelled(client, task.id));
    throw portcullisError('interrupted', {}, thrown);
  }
}

/** Cancels the task and waits for its end. @returns what became of it, as a sentence */
async function cancelled(client: Pick<GatewayClient, 'cancelTask' | 'getTask'>, id: string): Promise<string> {
  try {
    let task = await client.cancelTask(id).catch((thrown: unknown) => {
      if (asPortcullisError(thrown).code !== 'task_not_cancelable') throw thrown;
      return client.getTask(id);
    });
    for (const deadline = performance.now() + CANCEL_MS; !hasEnded(task); task = await client.getTask(id)) {
      if (performance.now() > deadline) return `cancel      asked; the task ${id} is still ${task.state}`;
      await delay(100);
    }
    if (task.state === 'canceled') return `cancelled   the task ${id} was cancelled`;
    return `not cancelled: the task ${id} had ended as ${task.state}`;
  } catch (thrown) {
    return `not cancelled: the task ${id} could not be reached (${asPortcullisError(thrown).code})`;
  }
}

function eventLine(event: TaskEvent, bytes: { stdout: number; stderr: number }): string {
  // Why it ended is in the result, in words.
  if (event.type === 'status') return `            ${event.phase}${event.phase === 'ended' ? '' : `: ${event.detail}`}`;
  bytes[event.stream] += event.bytes;
  return `            ${event.stream}: ${bytes[event.stream]} bytes`;
}
