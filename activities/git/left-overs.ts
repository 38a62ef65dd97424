/** What a killed import or push leaves among the objects of a repository of ours, removed once it is old enough to be nobody's. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a bundle's pack is checked before it counts. */
export const QUARANTINE_PREFIX = 'incoming-import-';

const QUARANTINE = /^(?:tmp_objdir-)?incoming-/;
const UNFINISHED_PACK = /^\.?tmp[-_]/;
/** Longer than any import or push takes. */
const LEFT_OVER_MS = 2 * 3_600_000;

export async function clearLeftOvers(gitDir: string): Promise<void> {
  const objects = join(gitDir, 'objects');
  await clear(objects, QUARANTINE);
  await clear(join(objects, 'pack'), UNFINISHED_PACK);
}

/** Those whose name says what they are and that nothing has written for long. */
async function clear(directory: string, names: RegExp): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!names.test(name)) continue;
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > LEFT_OVER_MS) await rm(path, { recursive: true, force: true });
  }
}
