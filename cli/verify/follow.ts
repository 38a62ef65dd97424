/** Follows a task to its end and tells, on stderr, what happens meanwhile. Interrupted, it cancels the task first. */
import type { VerifyTask } from '../../client/a2a.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { hasEnded } from '../../client/watch.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import type { CliContext } from '../context.ts';

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
    await client.cancelTask(task.id).catch(() => {});
    throw portcullisError('interrupted', {}, thrown);
  }
}

function eventLine(event: TaskEvent, bytes: { stdout: number; stderr: number }): string {
  if (event.type === 'status') return `            ${event.phase}: ${event.detail}`;
  bytes[event.stream] += event.bytes;
  return `            ${event.stream}: ${bytes[event.stream]} bytes`;
}
