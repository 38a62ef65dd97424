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
/** A part of an allowance that may be written between two walks. */
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

export function watchDisk(settings: DiskWatchSettings): DiskWatch {
  const { bounds } = settings;
  const stop = new AbortController();
  /** Bytes of each when the disk last had room. */
  let calm = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let floor: number | null = null;
  let atWalk = Number.NEGATIVE_INFINITY;
  let nextWalk = 0;

  async function look(): Promise<void> {
    const free = await settings.free();
    // A disk that had little from the start is not theirs to make room on.
    floor ??= Math.min(bounds.freeBytes, free / 2);
    const due = performance.now() > nextWalk || atWalk - free > bounds.bytes * UNSEEN;
    if (free >= floor && !due) return;
    const began = performance.now();
    const holdings = await measured();
    // What was cut short is no measure.
    if (stop.signal.aborted) return;
    atWalk = free;
    nextWalk = performance.now() + Math.max(WALK_MS, (performance.now() - began) / QUIET_SHARE);
    if (free >= floor) calm = new Map(holdings.map(({ workspace, bytes }) => [workspace.id, bytes]));
    const over = holdings.filter(({ bytes, files }) => bytes > bounds.bytes || files > bounds.files);
    for (const { workspace } of over) await settings.end(workspace.id, tooMuch(bounds));
    if (over.length > 0 || free >= floor) return;
    const most = whoGoes(holdings, bounds.freeBytes * WORTH, free < floor / 2);
    if (most !== null) await settings.end(most.workspace.id, 'little is left of the disk, and it takes most of it');
  }

  async function measured(): Promise<readonly Holding[]> {
    const holdings: Holding[] = [];
    for (const workspace of await settings.alive()) {
      const { directory, id } = workspace;
      const size = await measureTree({ find: settings.find, directory, atMost: bounds }, stop.signal);
      holdings.push({ ...size, workspace, grown: size.bytes - (calm.get(id) ?? 0) });
    }
    return holdings;
  }

  async function lookOn(): Promise<void> {
    const began = performance.now();
    // What cannot be looked at now is looked at the next time.
    await look().catch(() => {});
    const took = performance.now() - began;
    if (stop.signal.aborted) return;
    timer = setTimeout(() => void lookOn(), Math.max(bounds.lookMs, took / WALK_SHARE - took));
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
