/**
 * Watches what a run writes where no limit of the kernel holds: the bytes and files of its copy on the executor's disk, the number
 * of files in its scratch space, and the room that is left. Looks a few times a second, and walks the copy only when the disk says
 * that something was written: a quiet run costs a system call or two.
 */
import { statfs } from 'node:fs/promises';
import type { CommandLimits } from '../../schemas/verify/action.ts';
import type { EndingLimit } from '../../schemas/verify/report.ts';
import { measureTree } from './measure-tree.ts';

export interface WatchSettings {
  /** The run's private directory: copy, reports and pipes. */
  readonly directory: string;
  readonly find: string;
  readonly limits: Pick<CommandLimits, 'workBytes' | 'files'>;
  /** The sandbox's first process by our numbering; `null` until it is there. */
  readonly first: () => number | null;
  /** Called once, with the limit that is crossed and a sentence. */
  readonly onExceeded: (limit: EndingLimit, reason: string) => void;
}

export interface Watch {
  close(): void;
}

const LOOK_MS = 200;
/** A walk is due after this long whatever the disk says: others may make room on it as fast as the run takes it. */
const WALK_MS = 2_000;
/** Walks that are due take at most this part of the time; those that the disk calls for, the larger one. */
const QUIET_SHARE = 0.05;
const WALK_SHARE = 0.2;
/** A part of an allowance that may be written between two walks. */
const UNSEEN = 1 / 8;
/** Left for the executor and whoever else lives on its disk, unless it began with little more. */
const FREE_BYTES = 512 * 1024 * 1024;
/** Where a command finds scratch space of its own, which is memory. */
const SCRATCH = ['tmp', 'dev/shm', 'home/run'] as const;

interface Disk {
  readonly freeBytes: number;
  readonly freeFiles: number;
}

export function watchRun(settings: WatchSettings): Watch {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let atStart: Disk | null = null;
  let atWalk: Disk | null = null;
  let floor = 0;
  let nextWalk = 0;

  async function look(): Promise<readonly [EndingLimit, string] | null> {
    const disk = await diskOf(settings.directory);
    if (atWalk === null) {
      atStart = atWalk = disk;
      floor = Math.min(FREE_BYTES, disk.freeBytes / 2);
      nextWalk = performance.now() + WALK_MS;
    }
    if (disk.freeBytes < floor) return ['diskFree', `less than ${Math.round(floor)} bytes are left on the disk`];
    if (await isScratchFull(settings)) {
      return ['files', `more than ${settings.limits.files} files in one of its scratch spaces`];
    }
    if (!isWalkDue(settings.limits, atWalk, disk, nextWalk)) return null;
    const began = performance.now();
    const crossed = await walk(settings, (atStart?.freeBytes ?? 0) - disk.freeBytes, stop.signal);
    atWalk = disk;
    nextWalk = performance.now() + Math.max(WALK_MS, (performance.now() - began) / QUIET_SHARE);
    return crossed;
  }

  function exceeded(limit: EndingLimit, reason: string): void {
    if (stop.signal.aborted) return;
    close();
    settings.onExceeded(limit, `limit: ${reason}`);
  }

  function close(): void {
    stop.abort();
    clearTimeout(timer);
  }

  async function lookOn(): Promise<void> {
    const began = performance.now();
    // What cannot be looked at now is looked at the next time; the run's own limits hold meanwhile.
    const crossed = await look().catch(() => null);
    if (crossed !== null) exceeded(...crossed);
    const took = performance.now() - began;
    if (!stop.signal.aborted) timer = setTimeout(() => void lookOn(), Math.max(LOOK_MS, took / WALK_SHARE - took));
  }

  void lookOn();
  return { close };
}

async function diskOf(directory: string): Promise<Disk> {
  const { bavail, bsize, ffree } = await statfs(directory);
  return { freeBytes: bavail * bsize, freeFiles: ffree };
}

function isWalkDue({ workBytes, files }: WatchSettings['limits'], then: Disk, now: Disk, nextWalk: number): boolean {
  return (
    performance.now() > nextWalk ||
    then.freeBytes - now.freeBytes > workBytes * UNSEEN ||
    then.freeFiles - now.freeFiles > files * UNSEEN
  );
}

/** A memory file system knows how many files it has. Its mount points cannot be moved from inside, so nothing is followed. */
async function isScratchFull({ first, limits }: WatchSettings): Promise<boolean> {
  const pid = first();
  if (pid === null) return false;
  const counts = SCRATCH.map(async (name) => {
    const { files, ffree } = await statfs(`/proc/${pid}/root/${name}`);
    return files - ffree;
  });
  const found = await Promise.allSettled(counts);
  return found.some((count) => count.status === 'fulfilled' && count.value > limits.files);
}

/**
 * @param taken bytes that the disk has lost since the run began. Where something is kept out of sight they may be the run's, and it
 * ends; they may be another's as well, so they are not called bytes of its copy.
 */
async function walk(
  { find, directory, limits }: WatchSettings,
  taken: number,
  signal: AbortSignal,
): Promise<readonly [EndingLimit, string] | null> {
  const atMost = { bytes: limits.workBytes, files: limits.files };
  const { bytes, files, hidden } = await measureTree({ find, directory, atMost }, signal);
  if (bytes > limits.workBytes) return ['workBytes', `more than ${limits.workBytes} bytes in its copy`];
  if (files > limits.files) return ['files', `more than ${limits.files} files in its copy`];
  if (hidden && taken > limits.workBytes) {
    return ['diskFree', `more than ${limits.workBytes} bytes went from the disk while it kept a directory unreadable`];
  }
  return null;
}
