/**
 * How much pushes may leave in a repository: bytes, and packs. Each push leaves one pack, however small, and git looks for every
 * object in all of them; from a number on they are packed together. What an import brought is large, was bounded when it came
 * in, and stays as it is.
 */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clearLeftOvers } from '../../activities/git/left-overs.ts';
import { runGit } from '../../activities/git/run.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { GatewayLimits } from '../limits.ts';

type RoomLimits = Pick<GatewayLimits, 'gitRepositoryBytes' | 'gitRepositoryPacks'>;

/** Clears what killed pushes left, packs together what is in many packs, then compares with the bounds. @throws `limit` */
export async function requireRoom(repository: string, limits: RoomLimits): Promise<void> {
  const { gitRepositoryBytes: bytes, gitRepositoryPacks: packs } = limits;
  await clearLeftOvers(repository);
  let found = await pushedPacks(repository);
  if (found.count >= packs) {
    await packTogether(repository);
    found = await pushedPacks(repository);
  }
  if (found.bytes > bytes) throw portcullisError('limit', { reason: `the repository holds more than ${bytes} bytes` });
  if (found.count >= packs) {
    const reason = `the repository is in ${found.count} packs, which could not be packed together`;
    throw portcullisError('limit', { reason });
  }
}

async function pushedPacks(repository: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const directory = join(repository, 'objects', 'pack');
  const names = await readdir(directory).catch(() => []);
  const imported = new Set<string>();
  for (const name of names.filter((one) => one.endsWith('.keep'))) {
    const says = await readFile(join(directory, name), 'utf8').catch(() => '');
    if (says.startsWith('import')) imported.add(stem(name));
  }
  const pushed = names.filter((name) => !imported.has(stem(name)));
  let bytes = 0;
  for (const name of pushed) bytes += (await stat(join(directory, name)).catch(() => ({ size: 0 }))).size;
  return { count: pushed.filter((name) => name.endsWith('.pack')).length, bytes };
}

const stem = (name: string) => name.replace(/\.\w+$/, '');

/** Small packs into one, large ones left alone, so that what was packed once is not packed again with every push. */
const GEOMETRIC = ['repack', '--quiet', '-d', '--geometric=2'];
/** No search for what objects have in common: whoever pushes could make it take hours, and gigabytes. */
const CHEAP = ['--window=0'];
const SETTINGS = [
  ...['pack.threads=1', 'core.bigFileThreshold=16m', 'core.packedGitLimit=1g', 'core.packedGitWindowSize=128m'],
  ...['repack.writeBitmaps=false', 'repack.updateServerInfo=false', 'core.multiPackIndex=false'],
];
const PACK_MS = 120_000;

/** No object is ever dropped: one that nothing reaches yet may be part of a push under way. */
async function packTogether(repository: string): Promise<void> {
  // The name that git's own maintenance uses: another replica may be at it.
  const lock = join(repository, 'objects', 'maintenance.lock');
  const held = await stat(lock).catch(() => null);
  if (held !== null && Date.now() - held.mtimeMs > 2 * PACK_MS) await rm(lock, { force: true });
  try {
    await writeFile(lock, '', { flag: 'wx' });
  } catch {
    return;
  }
  try {
    const settings = [...SETTINGS, `safe.directory=${repository}`].flatMap((setting) => ['-c', setting]);
    await runGit({ gitDir: repository, args: [...settings, ...GEOMETRIC, ...CHEAP], timeoutMs: PACK_MS });
  } finally {
    await rm(lock, { force: true });
  }
}
