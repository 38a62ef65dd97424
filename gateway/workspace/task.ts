/** Which task an executor may speak for: one of its own seat that has not ended. */
import type { StoreReader } from '../../activities/store/port.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Seat } from '../../schemas/queues.ts';
import { isTerminalTaskState, type TaskSnapshot } from '../../schemas/verify/task.ts';

const TASK_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * @throws `not_found` also for a task of another pair, role or generation: whether it exists is nobody else's business;
 *   `state_conflict` when it has ended
 */
export async function openTaskOf(
  store: Pick<StoreReader, 'readTask'>,
  seat: Seat,
  taskId: string,
): Promise<TaskSnapshot> {
  const task = TASK_ID_PATTERN.test(taskId) ? await store.readTask(seat.tenant, taskId) : null;
  if (task === null || !isOfSeat(task, seat)) {
    throw portcullisError('not_found', { what: 'task', id: taskId.slice(0, 128) });
  }
  if (isTerminalTaskState(task.state)) throw portcullisError('state_conflict', { what: 'The task' });
  return task;
}

function isOfSeat(task: TaskSnapshot, seat: Seat): boolean {
  return (
    task.tenant === seat.tenant &&
    task.pair === seat.pair &&
    task.executor.role === seat.role &&
    task.executor.workspaceGeneration === seat.workspaceGeneration
  );
}
