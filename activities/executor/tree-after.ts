/**
 * Git's tree id of the tracked files as they are after a run, made without git: nothing trusted runs git where a command
 * could write. Equal to the commit's tree exactly when no tracked file changed its bytes, its mode or its kind.
 */
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { compareCodeUnits } from '../../schemas/digest.ts';
import { gitHashAlgorithm, gitObjectId, type GitHashAlgorithm } from '../content/hasher.ts';
import type { ExportedTree, TreeEntry } from './checkout.ts';
import { safeFiles, type SafeFiles } from './safe-files.ts';

/** A file, a link or a submodule at its path; submodules are not exported, so theirs stays what the commit says. */
type Leaf = Pick<TreeEntry, 'mode' | 'id' | 'path'>;

/** Files read at once: enough to keep the disk busy, few enough for any limit on open files. */
const AT_ONCE = 32;
/** Read whole: a stream costs more than most files are long. */
const SMALL_BYTES = 1024 * 1024;

export async function treeAfter(root: string, exported: ExportedTree): Promise<string> {
  const algorithm = gitHashAlgorithm(exported.tree);
  const files = safeFiles(root);
  const leaves: (Leaf | null)[] = [];
  const work = exported.entries.entries();
  const readOn = async (): Promise<void> => {
    for (const [index, entry] of work) {
      leaves[index] = entry.type === 'commit' ? entry : await readLeaf(root, files, entry.path, algorithm);
    }
  };
  // They share one iterator, so each entry is taken by one of them.
  await Promise.all(Array.from({ length: AT_ONCE }, readOn));
  const unchanged = exported.entries.every(({ mode, id }, index) => {
    const leaf = leaves[index];
    return leaf?.mode === mode && leaf.id === id;
  });
  if (unchanged) return exported.tree;
  return hashTree(
    leaves.filter((leaf) => leaf !== null),
    '',
    algorithm,
  );
}

async function readLeaf(
  root: string,
  files: SafeFiles,
  path: string,
  algorithm: GitHashAlgorithm,
): Promise<Leaf | null> {
  const whole = join(root, path);
  if (!(await files.isReached(path))) return null;
  try {
    if ((await lstat(whole)).isSymbolicLink()) {
      const target = await readlink(whole, { encoding: 'buffer' });
      return { path, mode: '120000', id: await gitObjectId(algorithm, 'blob', target.length, [target]) };
    }
  } catch {
    return null;
  }
  const file = await files.open(path);
  if (file === null) return null;
  try {
    const { size, mode } = await file.stat();
    const bytes = size <= SMALL_BYTES ? [await file.readFile()] : file.createReadStream({ autoClose: false });
    const id = await gitObjectId(algorithm, 'blob', size, bytes);
    return { path, mode: (mode & 0o100) === 0 ? '100644' : '100755', id };
  } finally {
    await file.close();
  }
}

/** The id of the tree that these leaves make below `prefix`. */
async function hashTree(leaves: readonly Leaf[], prefix: string, algorithm: GitHashAlgorithm): Promise<string> {
  const children = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const [name = ''] = leaf.path.slice(prefix.length).split('/');
    children.set(name, [...(children.get(name) ?? []), leaf]);
  }
  const entries = await Promise.all(
    [...children].map(async ([name, below]) => {
      const [only] = below;
      const isLeaf = only !== undefined && below.length === 1 && only.path === `${prefix}${name}`;
      if (isLeaf) return { name, sortName: name, mode: only.mode, id: only.id };
      const id = await hashTree(below, `${prefix}${name}/`, algorithm);
      // Git sorts a directory as if its name ended with a slash.
      return { name, sortName: `${name}/`, mode: '40000', id };
    }),
  );
  entries.sort(
    (a, b) => Buffer.compare(Buffer.from(a.sortName), Buffer.from(b.sortName)) || compareCodeUnits(a.name, b.name),
  );
  const parts = entries.map(({ mode, name, id }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  const body = Buffer.concat(parts);
  return gitObjectId(algorithm, 'tree', body.length, [body]);
}
