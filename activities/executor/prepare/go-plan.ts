/**
 * go: the tool reads go.mod and go.sum that we copied out of the commit, so no other file of it plays a part. Modules are held
 * to go.sum, and what that does not name to the checksum database.
 */
import { contentDigest } from '../../../schemas/digest.ts';
import { pathOutside } from './go-paths.ts';
import type { PlanPreparation } from './types.ts';

const FILES: readonly string[] = ['go.mod', 'go.sum', 'go.work', 'go.work.sum'];

export const planGo: PlanPreparation = async (files, lockfile) => {
  const manifest = await files.read('go.mod');
  if (manifest === null) return { kind: 'not_needed', reason: 'there is no go.mod' };
  if ((await files.read('vendor/modules.txt')) !== null) {
    return { kind: 'not_needed', reason: 'the modules are in the tree (vendor)' };
  }
  if (lockfile === null) {
    return /^\s*require\b/m.test(manifest)
      ? { kind: 'refused', reason: 'go.mod requires modules and there is no go.sum' }
      : { kind: 'not_needed', reason: 'go.mod requires no module' };
  }
  const present = await Promise.all(FILES.map(async (path) => ({ path, text: await files.read(path) })));
  const modules = await Promise.all(
    files
      .named('go.mod')
      .filter((path) => path !== 'go.mod')
      .map(async (path) => ({ path, text: await files.read(path) })),
  );
  const copied = [...present, ...modules].flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  // Of modules below, what they name counts only where a go.work makes them members.
  const counted = copied.some(({ path }) => path === 'go.work') ? copied : present;
  for (const { path, text } of counted) {
    const outside = text === null || path.endsWith('.sum') ? null : pathOutside(path, text);
    if (outside !== null) {
      return { kind: 'refused', reason: `${path} names ${shown(outside)}, which is outside the tree` };
    }
  }
  return {
    kind: 'ready',
    inputs: copied.map(({ path, text }) => ({ path, sha256: contentDigest(new TextEncoder().encode(text)) })),
    sees: 'files',
    files: copied,
    settings: [],
    chdir: '/work',
    places: [],
  };
};

function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);
}
