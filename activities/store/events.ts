/** Appending events to a task, the same for every process that may. */
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf } from '../../schemas/keys.ts';
import { isTerminalTaskState, type TaskEvent } from '../../schemas/verify/task.ts';
import type { StoreConnection } from './connect.ts';
import type { EventSource } from './port.ts';
import { APPEND_EVENT } from './scripts/sequencer.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { said } from './snapshot.ts';

/**
 * The event's number, or `null` when the task has ended.
 * @throws `not_found` for a task that was never admitted, `state_conflict` for an event that would end the task: only
 *   what persists a result does that (DESIGN invariant 6)
 */
export async function appendEvent(
  connection: StoreConnection,
  tenant: string,
  task: string,
  from: EventSource,
  event: TaskEvent,
): Promise<number | null> {
  if (event.type === 'status' && isTerminalTaskState(event.state)) {
    throw portcullisError('state_conflict', {
      what: 'The end of a task, which is written with its result and so not what',
    });
  }
  const keys = keysOf(tenant);
  const words = await runScript(
    connection,
    APPEND_EVENT,
    { task: keys.task(task), events: keys.taskEvents(task), offsets: keys.taskOffsets(task) },
    said(from, event),
  );
  const [answer, seq] = words;
  if (answer === 'appended') return Number(seq);
  if (answer === 'refused') return null;
  if (answer === 'missing') throw portcullisError('not_found', { what: 'task', id: task });
  return unexpectedReply(words);
}
