/**
 * The provisioners: so many builds at once, the rest waits in order. A job that was pending when the server was killed is
 * taken up again; one that was running belongs to a provisioner that is dead, and only the reaper ends it.
 */
import { randomUUID } from 'node:crypto';
import type { LocalCoderContext } from '../context.ts';
import type { Build } from '../state/records.ts';
import { ended } from './end.ts';
import { runBuild } from './run.ts';

/** A provisioner asks for work that long after it was offered. */
const ACQUIRE_MS = 8;

export interface Daemon {
  readonly id: string;
  readonly name: string;
  readonly jobId: string | null;
}

export interface BuildQueue {
  add(build: Build): void;
  /** From 1 for a job that waits, of so many; 0 of 0 for one that does not. */
  position(jobId: string): { readonly position: number; readonly size: number };
  /** Ends a pending build at once and interrupts a running one; a dead one only becomes `canceling`. */
  cancel(build: Build): void;
  /** True while a provisioner of this process works on it. */
  runs(buildId: string): boolean;
  daemons(): readonly Daemon[];
  /** What runs stays `running` in the state, as with a killed server; resolves when nothing here works on it any more. */
  stop(): Promise<void>;
}

/** `coder` is asked for when the first build comes: queue and context need each other. */
export function buildQueue(size: number, coder: () => LocalCoderContext): BuildQueue {
  const waiting: string[] = [];
  const running = new Map<string, AbortController>();
  const jobs = new Map<string, string>();
  const daemons = Array.from({ length: size }, (_, index) => ({ id: randomUUID(), name: `provisioner-${index}` }));
  const taken = new Map<string, string>();
  const work = new Set<Promise<void>>();
  let stopped = false;

  const offer = (): void => {
    void coder()
      .clock.sleep(ACQUIRE_MS)
      .then(() => take());
  };
  const take = (): void => {
    if (stopped) return;
    const daemon = daemons.find(({ id }) => !taken.has(id));
    const buildId = daemon === undefined ? undefined : waiting.shift();
    if (daemon === undefined || buildId === undefined) return;
    const build = coder().state.builds.get(buildId);
    if (build === undefined) return;
    taken.set(daemon.id, build.job.id);
    const worked = run(build, daemon.id).finally(() => {
      taken.delete(daemon.id);
      work.delete(worked);
      take();
    });
    work.add(worked);
  };
  const run = async (build: Build, workerId: string): Promise<void> => {
    const { state, clock, changes } = coder();
    const interrupt = new AbortController();
    running.set(build.id, interrupt);
    const started = { ...build, job: { ...build.job, status: 'running', startedAt: clock.iso(), workerId } } as const;
    state.builds.put(started);
    changes.say(build.workspaceId);
    const outcome = await runBuild(coder(), started, interrupt.signal);
    running.delete(build.id);
    if (!stopped) ended(coder(), build.id, outcome);
  };
  return {
    add(build) {
      waiting.push(build.id);
      jobs.set(build.job.id, build.id);
      offer();
    },
    position(jobId) {
      const at = waiting.indexOf(jobs.get(jobId) ?? '');
      // As there: who has just been asked for is not counted until the provisioners were all seen busy.
      return at < 0 || taken.size < size ? { position: 0, size: 0 } : { position: at + 1, size: waiting.length };
    },
    cancel(build) {
      const { state, clock, changes } = coder();
      const at = waiting.indexOf(build.id);
      const canceledAt = clock.iso();
      if (at >= 0) {
        waiting.splice(at, 1);
        state.builds.put({ ...build, job: { ...build.job, status: 'canceled', canceledAt, completedAt: canceledAt } });
      } else {
        state.builds.put({ ...build, job: { ...build.job, status: 'canceling', canceledAt } });
        running.get(build.id)?.abort();
      }
      changes.say(build.workspaceId);
    },
    runs: (buildId) => running.has(buildId),
    daemons: () => daemons.map(({ id, name }) => ({ id, name, jobId: taken.get(id) ?? null })),
    async stop() {
      stopped = true;
      waiting.length = 0;
      for (const interrupt of running.values()) interrupt.abort();
      await Promise.allSettled(work);
    },
  };
}
