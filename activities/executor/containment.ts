/** What holds one run: the limits that the executor can enforce here, opened before it, looked at and closed after it. */
import type { CommandLimits } from '../../schemas/verify/action.ts';
import type { EndingLimit, ExecutorReport } from '../../schemas/verify/report.ts';
import { openRunCgroup, type RunCgroup } from './cgroup.ts';
import type { WatchedSandbox } from './contained-run.ts';
import type { SandboxProbe } from './probe.ts';
import { watchRun, type Watch } from './watch.ts';

export interface RunContainment {
  /** For `runContained`. */
  readonly joins: readonly string[];
  readonly watch: (sandbox: WatchedSandbox) => Watch;
  /** Limits that were crossed without ending the run as a whole. Call it when the run has ended. */
  crossed(): Promise<readonly EndingLimit[]>;
  /** Call it when the last process is gone. */
  close(): Promise<void>;
}

/** `directory`: the run's private one. @throws an error of the file system when the delegated cgroup cannot be used any more */
export async function openContainment(
  probe: SandboxProbe,
  limits: CommandLimits,
  directory: string,
): Promise<RunContainment> {
  const cgroup: RunCgroup | null = probe.cgroup === null ? null : await openRunCgroup(probe.cgroup, limits);
  return {
    joins: cgroup?.joins ?? [],
    watch: ({ first, exceed }) =>
      watchRun({ directory, find: probe.find, limits, first, onExceeded: (limit, reason) => exceed(limit, reason) }),
    crossed: async () => (cgroup !== null && (await cgroup.memoryKills()) > 0 ? ['memoryBytes'] : []),
    close: async () => cgroup?.remove(),
  };
}

/** The sandbox as a report names it: what contains the run, and only those limits that hold here. */
export function sandboxInForce(probe: SandboxProbe, limits: CommandLimits): ExecutorReport['sandbox'] {
  const { processes, memoryBytes, ...others } = limits;
  return {
    containment: 'bubblewrap',
    network: 'none',
    limits: {
      ...others,
      ...(probe.limitsProcesses || probe.cgroup !== null ? { processes } : {}),
      ...(probe.cgroup === null ? {} : { memoryBytes }),
    },
  };
}

/** One line for whoever starts an executor or asks what this machine can do. */
export function describeContainment({
  version,
  cgroup,
  limitsProcesses,
}: Pick<SandboxProbe, 'version' | 'limitsProcesses'> & {
  readonly cgroup: { readonly version: 1 | 2 } | null;
}): string {
  const limits = [
    cgroup === null ? 'memory of each process' : `memory of a run as a whole (cgroup v${cgroup.version})`,
    ...(limitsProcesses || cgroup !== null ? ['processes'] : []),
    'files',
    'bytes written',
    'output',
    'time',
  ];
  return `bubblewrap ${version}, no network; limits on ${limits.join(', ')}`;
}
