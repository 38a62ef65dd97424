/** Takes and looks at a run's place in the line of its executor, and says on the wire what changed. */
import type { PhaseNotice, Turn, TurnRequest } from '../../schemas/verify/activities.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import type { VerifyDependencies } from './dependencies.ts';

export async function takeTurn({ store }: VerifyDependencies, request: TurnRequest): Promise<Turn> {
  const { seat, workflowId, taskId, offset } = request;
  const { rank, presence } = await store.takePlace(seat, workflowId);
  if (presence === 'absent') return { kind: 'absent' };
  if (presence === 'unknown') return { kind: 'settling' };
  if (rank === 0 && presence === 'idle') {
    await store.appendEvent(seat.tenant, taskId, { source: 'control', offset }, working('running', 'the command runs'));
    return { kind: 'go' };
  }
  if (request.shown !== rank) {
    const detail = `queued: the executor is busy; place ${rank} in line`;
    await store.appendEvent(seat.tenant, taskId, { source: 'control', offset }, working('queued', detail));
  }
  return { kind: 'queued', place: rank };
}

/** Says on the wire what a working task is doing. */
export async function announcePhase({ store }: VerifyDependencies, notice: PhaseNotice): Promise<void> {
  const { tenant, taskId, offset, phase, detail } = notice;
  await store.appendEvent(tenant, taskId, { source: 'control', offset }, working(phase, detail));
}

function working(phase: PhaseNotice['phase'], detail: string): TaskEvent {
  return { type: 'status', state: 'working', phase, detail, outcome: null };
}
