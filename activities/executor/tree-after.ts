/**
 * Git's tree id of the tracked files as they are after a run, made without git: nothing trusted runs git where a command
 * could write. Equal to the commit's tree exactly when no tracked file changed its bytes, its mode or its kind.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compareCodeUnits } from '../../schemas/digest.ts';
import { gitHashAlgorithm, gitObjectId, type GitHashAlgorithm } from '../content/hasher.ts';
import type { ExportedTree, TreeEntry } from './checkout.ts';
import { openInside } from './safe-files.ts';

/** A file, a link or a submodule at its path; submodules are not exported, so theirs stays what the commit says. */
type Leaf = Pick<TreeEntry, 'mode' | 'id' | 'path'>;

export async function treeAfter(root: string, exported: ExportedTree): Promise<string> {
  const algorithm = gitHashAlgorithm(exported.tree);
  const leaves: Leaf[] = [];
  let changed = false;
  for (const entry of exported.entries) {
    const leaf = entry.type === 'commit' ? entry : await readLeaf(root, entry.path, algorithm);
    if (leaf?.mode !== entry.mode || leaf.id !== entry.id) changed = true;
    if (leaf !== null) leaves.push(leaf);
  }
  return changed ? hashTree(leaves, '', algorithm) : exported.tree;
}

async function readLeaf(root: string, path: string, algorithm: GitHashAlgorithm): Promise<Leaf | null> {
  const whole = join(root, path);
  try {
    const entry = await lstat(whole);
    if (entry.isSymbolicLink()) {
      if ((await realpath(dirname(whole))) !== dirname(whole)) return null;
      const target = await readlink(whole, { encoding: 'buffer' });
      return { path, mode: '120000', id: await gitObjectId(algorithm, 'blob', target.length, [target]) };
    }
  } catch {
    return null;
  }
  const file = await openInside(root, path);
  if (file === null) return null;
  const { size, mode } = await file.stat();
  const bytes = file.createReadStream() as AsyncIterable<Uint8Array>;
  const id = await gitObjectId(algorithm, 'blob', size, bytes);
  return { path, mode: (mode & 0o100) === 0 ? '100644' : '100755', id };
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
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.sortName), Buffer.from(b.sortName)) || compareCodeUnits(a.name, b.name));
  const parts = entries.map(({ mode, name, id }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  const body = Buffer.concat(parts);
  return gitObjectId(algorithm, 'tree', body.length, [body]);
}
