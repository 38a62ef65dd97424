/** What one workspace may use of this machine as a whole, however many processes it has: so that the stack goes on beside it. */
import { totalmem } from 'node:os';

export interface WorkspaceBounds {
  /** Of all its processes, file systems in memory included. */
  readonly memoryBytes: number;
  /** Threads count as well. */
  readonly processes: number;
}

/** More than a run may have by the shipped policies, beside which an agent lives. */
export const DEFAULT_WORKSPACE_BOUNDS: WorkspaceBounds = { memoryBytes: 12 * 1024 ** 3, processes: 2_048 };

/** The machine's own part is never a workspace's. */
const SHARE = 0.75;

/** The bounds as they can be kept on this machine. */
export function boundsHere({ memoryBytes, processes }: WorkspaceBounds): WorkspaceBounds {
  return { memoryBytes: Math.floor(Math.min(memoryBytes, totalmem() * SHARE)), processes };
}
