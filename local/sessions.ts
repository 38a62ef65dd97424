/**
 * The directory of one local verification: its workspace, the code that its executor starts with, and who owns it. A process
 * that is killed leaves it behind with a bearer that still lives, so whoever comes next finds here what is to be removed and
 * which pair is to be closed.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeTree } from '../activities/executor/run-directory.ts';
import { portcullisError } from '../schemas/errors.ts';
import { identify, lives } from './processes.ts';

const PREFIX = 'verify-';
const OWNER = 'owner.json';
/** A directory without an owner is one that is being made, or that nobody will ever own. */
const UNOWNED_MS = 60_000;

const ownerSchema = z.object({ pid: z.number().int().positive(), started: z.string(), pair: z.string() });

/** A directory whose owner is gone. */
export interface DeadSession {
  readonly directory: string;
  /** Whose credentials may still live; `null` when the directory does not say. */
  readonly pair: string | null;
}

/** Makes the directory of a verification of this process, for this user alone. @returns its path */
export function openSession(parent: string, pair: string): string {
  const self = identify(process.pid);
  if (self === null) throw portcullisError('internal');
  // Not asynchronous: a kill between the two would leave a directory that names no pair.
  const directory = mkdtempSync(join(parent, PREFIX));
  writeFileSync(join(directory, OWNER), JSON.stringify({ ...self, pair }), { mode: 0o600 });
  return directory;
}

/** Removes everything but the owner's record: no bearer is left, and the pair is still known. */
export async function stripSession(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name !== OWNER) await removeTree(join(directory, name));
  }
}

/** Removes the whole directory. */
export async function removeSession(directory: string): Promise<void> {
  await removeTree(directory);
}

/** The directories below `parent` whose owner no longer runs. */
export async function deadSessions(parent: string): Promise<readonly DeadSession[]> {
  const names = await readdir(parent).catch(() => []);
  const found = names.filter((name) => name.startsWith(PREFIX)).map((name) => dead(join(parent, name)));
  return (await Promise.all(found)).flat();
}

async function dead(directory: string): Promise<readonly DeadSession[]> {
  try {
    const owner = ownerSchema.parse(JSON.parse(await readFile(join(directory, OWNER), 'utf8')));
    return lives(owner) ? [] : [{ directory, pair: owner.pair }];
  } catch {
    return (await isOld(directory)) ? [{ directory, pair: null }] : [];
  }
}

async function isOld(directory: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(directory)).mtimeMs > UNOWNED_MS;
  } catch {
    // Its owner, or another sweep, has removed it.
    return false;
  }
}
