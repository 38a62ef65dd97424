/**
 * What preparations made, one directory for each key, in the executor's private directory. Only a preparation that ended well
 * is moved in, whole; commands see it read-only or get a copy; the longest unused is removed when there is too much.
 */
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalBytes } from '../../../schemas/canonical.ts';
import { contentDigest, digestHex, type ContentDigest } from '../../../schemas/digest.ts';
import { removeTree } from '../run-directory.ts';

export interface CacheEntry {
  /** Shown to the command as `/prepared`. */
  readonly data: string;
  /** Holds the `node_modules` that the command gets copies of. */
  readonly tree: string;
}

export interface FreshEntry extends CacheEntry {
  readonly path: string;
  /** For the tool's own caches, the sandbox's pipes and its socket; gone when the entry is published. */
  readonly scratch: string;
  readonly pipes: string;
  readonly report: string;
  readonly socket: string;
}

export interface PrepareCache {
  find(key: ContentDigest): Promise<CacheEntry | null>;
  make(): Promise<FreshEntry>;
  /** Moves a finished entry in; the one that is there already wins. */
  publish(fresh: FreshEntry, key: ContentDigest, bytes: number): Promise<CacheEntry>;
  discard(fresh: FreshEntry): Promise<void>;
}

const FRESH = 'new-';
const RECORD = 'entry.json';
const entryRecord = z.strictObject({ schema: z.literal('portcullis/prepared/v1'), key: z.string(), bytes: z.int() });

/** The key of what these facts determine. */
export function cacheKey(facts: unknown): ContentDigest {
  return contentDigest(canonicalBytes(facts));
}

/** @param maxBytes of all entries together; the newest stays even when it alone is larger */
export function openPrepareCache(directory: string, maxBytes: number): PrepareCache {
  const placeOf = (key: ContentDigest) => join(directory, digestHex(key));

  async function evict(keep: string): Promise<void> {
    const names = (await readdir(directory)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    const entries = await Promise.all(names.map((name) => describe(join(directory, name))));
    entries.sort((a, b) => b.usedAt - a.usedAt);
    let total = 0;
    for (const { path, bytes } of entries) {
      total += bytes;
      if (total > maxBytes && path !== keep) await removeTree(path).catch(() => {});
    }
  }

  return {
    async find(key) {
      const path = placeOf(key);
      const entry = await describe(path);
      if (entry.key !== key) return null;
      const now = new Date();
      await utimes(join(path, RECORD), now, now);
      return { data: join(path, 'data'), tree: join(path, 'tree') };
    },
    async make() {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const path = await mkdtemp(join(directory, FRESH));
      const inside = (name: string) => join(path, name);
      for (const name of ['data', 'tree', 'scratch', 'pipes', 'report']) await mkdir(inside(name), { mode: 0o700 });
      const [data, tree, scratch] = [inside('data'), inside('tree'), inside('scratch')] as const;
      return { path, data, tree, scratch, pipes: inside('pipes'), report: inside('report'), socket: inside('socket') };
    },
    async publish(fresh, key, bytes) {
      for (const left of [fresh.scratch, fresh.pipes, fresh.report]) await removeTree(left);
      await rm(fresh.socket, { force: true });
      const record = { schema: 'portcullis/prepared/v1', key, bytes };
      await writeFile(join(fresh.path, RECORD), JSON.stringify(record), { mode: 0o600 });
      const path = placeOf(key);
      try {
        await rename(fresh.path, path);
      } catch (error) {
        // Somebody else made the same meanwhile, or what is there was cut: the first is used, the second replaced.
        if ((await describe(path)).key === key) await removeTree(fresh.path);
        else {
          await removeTree(path);
          await rename(fresh.path, path).catch(() => Promise.reject(error instanceof Error ? error : new Error()));
        }
      }
      await evict(path);
      return { data: join(path, 'data'), tree: join(path, 'tree') };
    },
    discard: (fresh) => removeTree(fresh.path).catch(() => {}),
  };
}

/** Removes what an executor that was killed left unfinished. Call it before the first preparation of a new one. */
export async function removeUnfinished(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const unfinished = names.filter((name) => name.startsWith(FRESH));
  await Promise.all(unfinished.map((name) => removeTree(join(directory, name)).catch(() => {})));
}

interface Described {
  readonly path: string;
  /** Empty for what is no whole entry. */
  readonly key: string;
  readonly bytes: number;
  readonly usedAt: number;
}

async function describe(path: string): Promise<Described> {
  const nothing = { path, key: '', bytes: 0, usedAt: 0 };
  try {
    const file = join(path, RECORD);
    await access(join(path, 'data'));
    const parsed = entryRecord.safeParse(JSON.parse(await readFile(file, 'utf8')));
    if (!parsed.success) return nothing;
    return { path, key: parsed.data.key, bytes: parsed.data.bytes, usedAt: (await stat(file)).mtimeMs };
  } catch {
    return nothing;
  }
}
