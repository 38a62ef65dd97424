/**
 * Ends jobs whose provisioner is dead. A server that was killed in mid-build leaves one: nothing else can be asked of its
 * workspace until this has run.
 */
import type { LocalCoderContext } from '../context.ts';
import { ended } from './end.ts';
import { isActive } from './status.ts';

/** `aliveUntil`: when this state was last known to be served before this process; ISO time. */
export function reap(coder: LocalCoderContext, aliveUntil: string): void {
  const { state, clock, settings, queue } = coder;
  const now = clock.now().getTime();
  for (const build of state.builds.all()) {
    const { job } = build;
    // Pending ones were taken up again at the start, so only those that ran can be dead.
    if (!isActive(job) || job.status === 'pending' || queue.runs(build.id)) continue;
    const heard = Math.max(Date.parse(job.startedAt ?? job.createdAt), Date.parse(aliveUntil));
    if (now - heard < settings.hungMs) continue;
    const error = 'Coder: Build has been detected as hung for 5 minutes and has been terminated by the reaper.';
    ended(coder, build.id, { outcome: 'failed', error });
  }
}
