import { hasEnded } from '../../client/watch.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { exitCodeOf, resultObject, resultText } from '../verify/render.ts';

/** Follows a task and prints its result; one object a line with `--json`. @throws `not_found`, `stream_cut` */
export async function watchTask(context: CliContext, id: string): Promise<number> {
  const { output, signal } = context;
  for await (const seen of operatorClient(context).watch(id, { signal })) {
    switch (seen.kind) {
      case 'snapshot':
        output.line('TaskState', { task: id, ...pick(seen.task) }, `${seen.task.state}: ${seen.task.detail}`);
        break;
      case 'event':
        output.line('TaskEvent', { task: id, ...seen.numbered }, eventText(seen.numbered.event));
        break;
      case 'cut':
        output.progress(`The stream was cut (${seen.error.code}); resuming.`);
        break;
      case 'end':
        output.line('VerifyResult', resultObject(seen.task), resultText(seen.task, output));
        return exitCodeOf(seen.task);
    }
  }
  throw portcullisError('stream_cut');
}

/** @throws `task_not_cancelable`, `not_found` */
export async function cancelTask(context: CliContext, id: string): Promise<number> {
  const task = await operatorClient(context).cancelTask(id);
  const text = hasEnded(task)
    ? `The task ended as ${task.state}.`
    : `Asked; the task is still ${task.state}: ${task.detail}`;
  context.output.result('TaskState', { task: id, ...pick(task) }, text);
  return 0;
}

function pick(task: { readonly state: string; readonly detail: string }) {
  return { state: task.state, detail: task.detail };
}

function eventText(event: TaskEvent): string {
  // Why it ended is in the result, in words.
  if (event.type === 'status') return event.phase === 'ended' ? 'ended' : `${event.phase}: ${event.detail}`;
  return `${event.stream}: ${event.bytes} bytes stored`;
}
