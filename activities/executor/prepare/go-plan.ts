/**
 * go: the tool reads go.mod and go.sum that we copied out of the commit, so no other file of it plays a part. Modules are held
 * to go.sum, and what that does not name to the checksum database.
 */
import { contentDigest } from '../../../schemas/digest.ts';
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
  const outside = /=>\s*(\/\S*|\S*\.\.\/\S*|\.\.)(?:\s|$)/m.exec(manifest);
  if (outside !== null)
    return { kind: 'refused', reason: `go.mod replaces a module by ${String(outside[1]).slice(0, 120)}` };
  const present = await Promise.all(FILES.map(async (path) => ({ path, text: await files.read(path) })));
  const modules = await Promise.all(
    files
      .named('go.mod')
      .filter((path) => path !== 'go.mod')
      .map(async (path) => ({ path, text: await files.read(path) })),
  );
  const copied = [...present, ...modules].flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
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
