/** Stopping the local stack from outside: through its supervisor, or part by part when that was killed. */
import { rmSync } from 'node:fs';
import { portcullisError } from '../schemas/errors.ts';
import { lockHolder } from './lock.ts';
import { endedWithin, signal, stop } from './processes.ts';
import { readState, recordedProcesses, writeState, type PartName, type StatePaths } from './state.ts';

export interface StoppedProcess {
  readonly part: PartName | 'supervisor';
  readonly pid: number;
}

/** How long the supervisor may take to stop its parts in order. */
const ORDERLY_MS = 60_000;
const ORPHAN_GRACE_MS = 10_000;

/** @throws `waited_too_long` when the supervisor does not end */
export async function stopLocalStack(paths: StatePaths): Promise<{ readonly processes: readonly StoppedProcess[] }> {
  const before = readState(paths);
  const running = before === null ? [] : recordedProcesses(before);
  const stopped: StoppedProcess[] = [];
  const supervisor = lockHolder(paths.lock);
  if (supervisor !== null) {
    signal(supervisor, 'SIGTERM');
    if (!(await endedWithin(supervisor, ORDERLY_MS))) {
      throw portcullisError('waited_too_long', { seconds: ORDERLY_MS / 1000, what: 'the supervisor to stop' });
    }
    stopped.push({ part: 'supervisor', pid: supervisor.pid }, ...running.map(([part, { pid }]) => ({ part, pid })));
  }
  // Whatever is still there now has no supervisor.
  for (const [part, found] of running) {
    const outcome = await stop(found, ORPHAN_GRACE_MS);
    if (outcome !== 'absent' && supervisor === null) stopped.push({ part, pid: found.pid });
  }
  if (supervisor === null && before !== null) forgetProcesses(paths);
  return { processes: stopped };
}

function forgetProcesses(paths: StatePaths): void {
  const state = readState(paths);
  if (state === null) return;
  const parts = { ...state.parts };
  for (const [name] of recordedProcesses(state)) {
    parts[name] = { ...parts[name], state: 'stopped', process: null, since: Date.now() };
  }
  writeState(paths, { ...state, supervisor: null, ready: false, parts });
  rmSync(paths.lock, { force: true });
}
