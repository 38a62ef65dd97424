import { setTimeout as delay } from 'node:timers/promises';
import { lockHolder } from '../../local/lock.ts';
import { readState, type StatePaths } from '../../local/state.ts';
import { portcullisError } from '../../schemas/errors.ts';

const DEADLINE_MS = 120_000;

/**
 * Waits until the stack that another process supervises is ready.
 * @throws `stack_start_failed` when that process ends, `waited_too_long`, `interrupted`
 */
export async function awaitReadyStack(paths: StatePaths, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    signal.throwIfAborted();
    const holder = lockHolder(paths.lock);
    const state = readState(paths);
    if (holder !== null && state?.ready === true && state.supervisor?.started === holder.started) return;
    if (holder === null) {
      const log = paths.log('supervisor');
      throw portcullisError('stack_start_failed', { part: 'The stack', reason: 'its supervisor ended', log });
    }
    if (performance.now() > deadline) {
      throw portcullisError('waited_too_long', { seconds: DEADLINE_MS / 1000, what: 'the stack to become ready' });
    }
    await delay(100, undefined, { signal });
  }
}
