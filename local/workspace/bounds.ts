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

/** The bounds as they can be kept here. @param memory bytes there are for the stack and all workspaces */
export function boundsHere(
  { memoryBytes, processes }: WorkspaceBounds,
  memory = memoryHere(totalmem(), process.constrainedMemory()),
): WorkspaceBounds {
  return { memoryBytes: Math.floor(Math.min(memoryBytes, memory * SHARE)), processes };
}

/** A container has less than its machine. @param constrained 0, or more than any machine has, where nothing constrains this process */
export function memoryHere(machine: number, constrained: number): number {
  return Math.min(machine, constrained || machine);
}
