/**
 * Git's tree id of the tracked files as they are after a run, made without git: nothing trusted runs git where a command
 * could write. Equal to the commit's tree exactly when no tracked file changed its bytes, its mode or its kind.
 *
 * What is read is bounded: files that kept their size are no more than was exported, and those of another size have changed
 * whatever is in them, so that they are read for the id's sake alone and only while they are small together.
 */
import { lstat, readlink, type FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { compareCodeUnits } from '../../schemas/digest.ts';
import { gitHashAlgorithm, gitObjectId, type GitHashAlgorithm } from '../content/hasher.ts';
import { bytePathBelow, bytesOf } from './byte-path.ts';
import type { ExportedTree, TreeEntry } from './checkout.ts';
import { safeFiles, type SafeFiles } from './safe-files.ts';

/** A file, a link or a submodule at its path; submodules are not exported, so theirs stays what the commit says. */
type Leaf = Pick<TreeEntry, 'mode' | 'id' | 'path'>;

/** Files read at once: enough to keep the disk busy, few enough for any limit on open files. */
const AT_ONCE = 32;
/** Read whole: a stream costs more than most files are long. */
const SMALL_BYTES = 1024 * 1024;
/** How much is read of files whose size changed, all of them together. */
const MAX_RESIZED_BYTES = 64 * 1024 * 1024;

/** One look at the tracked files. */
interface Look {
  readonly root: string;
  readonly files: SafeFiles;
  readonly algorithm: GitHashAlgorithm;
  readonly cancellation: AbortSignal;
  /** Bytes that may still be read of files whose size changed. */
  resizedLeft: number;
}

/**
 * The tree's id. A file that grew too large to be read has git's null id in it, which is no file's.
 * @throws the signal's reason when it is aborted meanwhile
 */
export async function treeAfter(root: string, exported: ExportedTree, cancellation: AbortSignal): Promise<string> {
  const algorithm = gitHashAlgorithm(exported.tree);
  const look: Look = { root, files: safeFiles(root), algorithm, cancellation, resizedLeft: MAX_RESIZED_BYTES };
  const leaves: (Leaf | null)[] = [];
  const work = exported.entries.entries();
  const readOn = async (): Promise<void> => {
    for (const [index, entry] of work) {
      cancellation.throwIfAborted();
      leaves[index] = entry.type === 'commit' ? entry : await readLeaf(look, entry);
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

async function readLeaf(look: Look, entry: TreeEntry): Promise<Leaf | null> {
  const { path } = entry;
  const whole = bytesOf(bytePathBelow(look.root, path));
  if (!(await look.files.isReached(path))) return null;
  try {
    if ((await lstat(whole)).isSymbolicLink()) {
      const target = await readlink(whole, { encoding: 'buffer' });
      return { path, mode: '120000', id: await gitObjectId(look.algorithm, 'blob', target.length, [target]) };
    }
  } catch {
    return null;
  }
  const file = await look.files.open(path);
  if (file === null) return null;
  try {
    const { size, mode } = await file.stat();
    const id = await hashBlob(look, entry, file, size);
    return { path, mode: (mode & 0o100) === 0 ? '100644' : '100755', id };
  } finally {
    await file.close();
  }
}

async function hashBlob(look: Look, entry: TreeEntry, file: FileHandle, size: number): Promise<string> {
  if (size !== entry.size) {
    if (size > look.resizedLeft) return '0'.repeat(entry.id.length);
    look.resizedLeft -= size;
  }
  const bytes =
    size <= SMALL_BYTES
      ? [await file.readFile()]
      : addAbortSignal(look.cancellation, file.createReadStream({ autoClose: false }));
  return gitObjectId(look.algorithm, 'blob', size, bytes);
}

/** The id of the tree that these leaves make below `prefix`. */
async function hashTree(leaves: readonly Leaf[], prefix: string, algorithm: GitHashAlgorithm): Promise<string> {
  const children = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const [name = ''] = leaf.path.slice(prefix.length).split('/');
    const below = children.get(name);
    if (below === undefined) children.set(name, [leaf]);
    else below.push(leaf);
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
  // By bytes, which are the names' characters.
  entries.sort((a, b) => compareCodeUnits(a.sortName, b.sortName) || compareCodeUnits(a.name, b.name));
  const parts = entries.map(({ mode, name, id }) =>
    Buffer.concat([bytesOf(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  const body = Buffer.concat(parts);
  return gitObjectId(algorithm, 'tree', body.length, [body]);
}
