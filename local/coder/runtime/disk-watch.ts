/**
 * Holds workspaces to their part of the disk. A quota of the file system needs rights and mounts that are not everywhere, so what
 * each holds is measured, and whoever holds too much ends. When little is left of the disk, somebody has to: the store and Temporal
 * do not survive a full one.
 */
import { statfs } from 'node:fs/promises';
import { measureTree, type TreeSize } from '../../../activities/executor/measure-tree.ts';
import type { DiskBounds } from './settings.ts';

export interface WatchedWorkspace {
  readonly id: string;
  readonly directory: string;
}

export interface DiskWatchSettings {
  readonly bounds: DiskBounds;
  readonly find: string;
  /** Bytes that are left of the disk on which all of them lie. */
  readonly free: () => Promise<number>;
  readonly alive: () => Promise<readonly WatchedWorkspace[]>;
  /** Ends it and frees what it holds. */
  readonly end: (id: string, reason: string) => Promise<void>;
}

export interface DiskWatch {
  close(): void;
}

/** A walk is due after this long whatever the disk says; walks take at most this part of the time, those that are called for more. */
const WALK_MS = 2_000;
const QUIET_SHARE = 0.05;
const WALK_SHARE = 0.2;
/** A part of an allowance, or of what is to be left free, that may be written between two walks. */
const UNSEEN = 1 / 8;
/** Ending one that holds, or took, less than this part of what is to be left free would not help. */
const WORTH = 1 / 16;

export function freeBytesOf(directory: string): () => Promise<number> {
  return async () => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  };
}

interface Holding extends TreeSize {
  readonly workspace: WatchedWorkspace;
  /** Bytes since the disk was last seen to have room. */
  readonly grown: number;
}

interface Walk {
  /** It began when little was left, and is to find out who goes. */
  readonly low: boolean;
  readonly cut: AbortController;
  readonly done: Promise<void>;
}

/** Looks go on while a walk does, however long that takes. */
export function watchDisk(settings: DiskWatchSettings): DiskWatch {
  const { bounds } = settings;
  const stop = new AbortController();
  /** Bytes of each when the disk last had room. */
  let calm = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let floor: number | null = null;
  let walk: Walk | null = null;
  let atWalk = Number.NEGATIVE_INFINITY;
  /** Little was left, and with that in sight it was seen who goes. */
  let judged = false;
  let nextWalk = 0;
  let nextQuietWalk = 0;

  async function look(): Promise<void> {
    const free = await settings.free();
    // A disk that had little from the start is not theirs to make room on.
    floor ??= Math.min(bounds.freeBytes, free / 2);
    const low = free < floor;
    judged &&= low;
    if (walk !== null && low && !walk.low) {
      // It would take what was written meanwhile for what was there before, and say too late who wrote it.
      walk.cut.abort();
      await walk.done;
    }
    if (walk !== null || stop.signal.aborted || !isWalkDue(free, floor)) return;
    walk = begin(free, floor);
  }

  function isWalkDue(free: number, least: number): boolean {
    const now = performance.now();
    const written = atWalk - free;
    if (free < least) return !judged || written > least * UNSEEN || now > nextWalk;
    return now > nextQuietWalk || (written > bounds.bytes * UNSEEN && now > nextWalk);
  }

  function begin(free: number, least: number): Walk {
    const began = performance.now();
    const cut = new AbortController();
    const low = free < least;
    atWalk = free;
    // What cannot be counted now is counted the next time.
    const done = walkThrough(low, least, AbortSignal.any([stop.signal, cut.signal]))
      .catch(() => {})
      .finally(() => {
        const now = performance.now();
        nextWalk = now + (now - began) * (1 / WALK_SHARE - 1);
        nextQuietWalk = now + Math.max(WALK_MS, (now - began) / QUIET_SHARE);
        walk = null;
      });
    return { low, cut, done };
  }

  async function walkThrough(low: boolean, least: number, signal: AbortSignal): Promise<void> {
    const holdings: Holding[] = [];
    let over = false;
    for (const workspace of await settings.alive()) {
      const size = await measureTree({ find: settings.find, directory: workspace.directory, atMost: bounds }, signal);
      // What was cut short is no measure.
      if (signal.aborted) return;
      if (size.bytes > bounds.bytes || size.files > bounds.files) {
        over = true;
        await settings.end(workspace.id, tooMuch(bounds));
      } else {
        holdings.push({ ...size, workspace, grown: size.bytes - (calm.get(workspace.id) ?? 0) });
      }
    }
    const free = await settings.free();
    if (signal.aborted) return;
    if (!low && free >= least) calm = new Map(holdings.map(({ workspace, bytes }) => [workspace.id, bytes]));
    if (!low || over || free >= least) return;
    const most = whoGoes(holdings, bounds.freeBytes * WORTH, free < least / 2);
    judged = most === null;
    if (most !== null) await settings.end(most.workspace.id, 'little is left of the disk, and it takes most of it');
  }

  async function lookOn(): Promise<void> {
    // What cannot be looked at now is looked at the next time.
    await look().catch(() => {});
    if (stop.signal.aborted) return;
    timer = setTimeout(() => void lookOn(), bounds.lookMs);
    timer.unref();
  }

  void lookOn();
  return {
    close: () => {
      stop.abort();
      clearTimeout(timer);
    },
  };
}

/** Who took most of it; when it gets worse, who holds most. What is hidden from whoever counts is taken for the most. */
function whoGoes(holdings: readonly Holding[], least: number, urgent: boolean): Holding | null {
  const by = (weight: (holding: Holding) => number) =>
    holdings
      .map((holding) => ({ holding, weight: holding.hidden ? Number.POSITIVE_INFINITY : weight(holding) }))
      .filter(({ weight: bytes }) => bytes >= least)
      .sort((a, b) => b.weight - a.weight)[0]?.holding ?? null;
  const grew = by(({ grown }) => grown);
  return grew === null && urgent ? by(({ bytes }) => bytes) : grew;
}

function tooMuch({ bytes, files }: DiskBounds): string {
  return `it holds more than ${Math.round(bytes / 1024 ** 2)} MiB or ${files} files of the disk`;
}
