/**
 * A cgroup for one run, below the one that was delegated to this executor: memory and processes of everything that the run
 * starts, together. The launcher of the workspace delegates it where it may; without it there is no limit on the total.
 */
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Where a workspace finds what was delegated to it: `memory` and `pids` of v1, or `unified` of v2. */
export const DELEGATED = '/run/cgroup';

export type CgroupDelegation =
  | { readonly version: 1; readonly memory: string; readonly pids: string }
  | { readonly version: 2; readonly unified: string };

export interface CgroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
}

export interface RunCgroup {
  /** Files into which a process writes `0` to enter. */
  readonly joins: readonly string[];
  /** How many of its processes the kernel ended because all of them together used too much memory. */
  memoryKills(): Promise<number>;
  /** Call it when the last process is gone. Never rejects: what stays is empty, and removed at the executor's next start. */
  remove(): Promise<void>;
}

/** The sandbox itself: the outer process and the first one inside. */
const OWN_PROCESSES = 2;
const REMOVE_MS = 2_000;
/** More than a run may ever use: for trying whether limits are taken. */
const TRIAL: CgroupLimits = { memoryBytes: 64 * 1024 * 1024, processes: 64 };
const PREFIX = 'run-';

/** What was delegated, tried once; `null` when nothing is there or it cannot be used. Removes what an earlier executor left. */
export async function findDelegation(root: string = DELEGATED): Promise<CgroupDelegation | null> {
  for (const candidate of candidates(root)) {
    try {
      await Promise.all(directoriesOf(candidate).map(removeLeft));
      await (await openRunCgroup(candidate, TRIAL)).remove();
      return candidate;
    } catch {
      // Not there, or not writable: the next one, or none.
    }
  }
  return null;
}

function candidates(root: string): readonly CgroupDelegation[] {
  return [
    { version: 1, memory: join(root, 'memory'), pids: join(root, 'pids') },
    { version: 2, unified: join(root, 'unified') },
  ];
}

function directoriesOf(delegation: CgroupDelegation): readonly string[] {
  return delegation.version === 1 ? [delegation.memory, delegation.pids] : [delegation.unified];
}

let opened = 0;

/** @throws an error of the file system when a limit is not taken */
export async function openRunCgroup(
  delegation: CgroupDelegation,
  { memoryBytes, processes }: CgroupLimits,
): Promise<RunCgroup> {
  opened += 1;
  const name = `${PREFIX}${process.pid}-${opened}`;
  const places = directoriesOf(delegation).map((directory) => join(directory, name));
  const remove = async (): Promise<void> => {
    await Promise.all(places.map(removePlace));
  };
  try {
    for (const place of places) await mkdir(place);
    const [memory = '', pids = memory] = places;
    const set = (file: string, value: number) => writeFile(file, String(value));
    await set(join(memory, delegation.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'), memoryBytes);
    await withoutSwap(delegation, memory, memoryBytes);
    await set(join(pids, 'pids.max'), processes + OWN_PROCESSES);
    const kills = join(memory, delegation.version === 1 ? 'memory.oom_control' : 'memory.events');
    return {
      joins: places.map((place) => join(place, 'cgroup.procs')),
      memoryKills: async () => Number(/^oom_kill (\d+)$/m.exec(await readFile(kills, 'utf8'))?.[1] ?? 0),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What does not fit in memory would go to swap, and the limit would be one on patience. Kernels may be without the file. */
async function withoutSwap({ version }: CgroupDelegation, place: string, memoryBytes: number): Promise<void> {
  const file = join(place, version === 1 ? 'memory.memsw.limit_in_bytes' : 'memory.swap.max');
  const there = await access(file).then(
    () => true,
    () => false,
  );
  if (there) await writeFile(file, version === 1 ? String(memoryBytes) : '0');
}

async function removePlace(place: string): Promise<void> {
  const deadline = performance.now() + REMOVE_MS;
  for (;;) {
    try {
      await rmdir(place);
      return;
    } catch (error) {
      // The kernel takes a moment to notice that the last process is gone.
      if (Reflect.get(Object(error), 'code') !== 'EBUSY' || performance.now() > deadline) return;
      await delay(10);
    }
  }
}

async function removeLeft(directory: string): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(PREFIX));
  await Promise.all(left.map((name) => rmdir(join(directory, name)).catch(() => {})));
}
