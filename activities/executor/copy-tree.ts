/**
 * A private copy of a live tree, uncommitted work included. Plain files, directories and links only, and git is never asked about
 * it: somebody may write to it meanwhile, so every step is taken from a directory that is already open, and no link is followed.
 */
import {
  constants,
  lchown,
  mkdir,
  open,
  opendir,
  readlink,
  stat,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';

export interface TreeCopy {
  readonly from: string;
  /** An empty directory that is nobody else's. */
  readonly to: string;
  /** Directories that are left out, wherever they lie below `from`. `.git` at its top is left out always. */
  readonly except?: readonly string[];
  /** Whose the copy is; this process's when it is absent. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  readonly cancellation?: AbortSignal;
  readonly bounds?: CopyBounds;
}

export interface CopyBounds {
  readonly bytes: number;
  /** Files, links and directories. */
  readonly entries: number;
  readonly depth: number;
}

/** As much as a commit may be when it is exported. */
const BOUNDS: CopyBounds = { bytes: 2 * 1024 * 1024 * 1024, entries: 200_000, depth: 128 };
/** Files of one directory that are copied at once. */
const AT_ONCE = 16;
const PART_BYTES = 1024 * 1024;

/** Says what of the tree cannot be copied; the message is for people. */
export class TreeCopyRefused extends Error {}

/** @throws {@link TreeCopyRefused} when it is no directory or too large; the signal's reason when it is aborted meanwhile */
export async function copyTree({
  from,
  to,
  except = [],
  owner,
  cancellation,
  bounds = BOUNDS,
}: TreeCopy): Promise<void> {
  const left = await Promise.all(except.map(identityOf));
  const copy: Copy = {
    bounds,
    owner: owner ?? null,
    cancellation: cancellation ?? null,
    isLeftOut: (id) => left.includes(id),
    spent: { bytes: 0, entries: 0 },
  };
  const root = await openDirectory(Buffer.from(from));
  if (root === null) throw new TreeCopyRefused('it is not a directory');
  await copyDirectory(copy, root, Buffer.from(to), 0);
}

interface Copy {
  readonly bounds: CopyBounds;
  readonly owner: TreeCopy['owner'] | null;
  readonly cancellation: AbortSignal | null;
  readonly isLeftOut: (identity: string) => boolean;
  readonly spent: { bytes: number; entries: number };
}

/** Device and inode: a name could be another one's by the time it is compared. */
async function identityOf(path: string): Promise<string> {
  return await stat(path).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => '',
  );
}

interface Entry {
  readonly name: Buffer;
  readonly kind: 'file' | 'directory' | 'link';
}

/** Closes the directory. */
async function copyDirectory(copy: Copy, directory: FileHandle, to: Buffer, depth: number): Promise<void> {
  try {
    if (depth > copy.bounds.depth) throw new TreeCopyRefused(`it is more than ${copy.bounds.depth} directories deep`);
    for await (const batch of batches(copy, directory, depth)) {
      copy.cancellation?.throwIfAborted();
      const files = batch.filter(({ kind }) => kind !== 'directory');
      await Promise.all(files.map(({ name, kind }) => copyLeaf(copy, below(directory, name), child(to, name), kind)));
      for (const { name, kind } of batch) if (kind === 'directory') await copyBelow(copy, directory, name, to, depth);
    }
  } finally {
    await directory.close();
  }
}

async function* batches(copy: Copy, directory: FileHandle, depth: number): AsyncGenerator<readonly Entry[]> {
  let batch: Entry[] = [];
  // One character for each byte: names need not be UTF-8.
  const listing = await opendir(pathOf(directory), { encoding: 'latin1' });
  for await (const found of listing) {
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : found.isSymbolicLink() ? 'link' : null;
    // Sockets, pipes and devices are no part of a tree.
    if (kind === null || (depth === 0 && found.name === '.git')) continue;
    copy.spent.entries += 1;
    if (copy.spent.entries > copy.bounds.entries) {
      throw new TreeCopyRefused(`it has more than ${copy.bounds.entries} files and directories`);
    }
    batch.push({ name: Buffer.from(found.name, 'latin1'), kind });
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function copyBelow(copy: Copy, directory: FileHandle, name: Buffer, to: Buffer, depth: number): Promise<void> {
  const opened = await openDirectory(below(directory, name));
  // It is gone, or became something else: nothing of it is copied.
  if (opened === null) return;
  const { dev, ino } = await opened.stat();
  if (copy.isLeftOut(`${dev}:${ino}`)) {
    await opened.close();
    return;
  }
  const target = child(to, name);
  await mkdir(target, { mode: 0o700 });
  await give(copy, target);
  await copyDirectory(copy, opened, target, depth + 1);
}

async function copyLeaf(copy: Copy, from: Buffer, to: Buffer, kind: Entry['kind']): Promise<void> {
  try {
    if (kind === 'link') await symlink(await readlink(from, { encoding: 'buffer' }), to);
    else if (!(await copyFile(copy, from, to))) return;
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  await give(copy, to);
}

/** False when it is no plain file any more. */
async function copyFile(copy: Copy, from: Buffer, to: Buffer): Promise<boolean> {
  // Non-blocking, or a named pipe that took its place would be waited on for ever.
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await source.stat();
    if (!found.isFile()) return false;
    spend(copy, found.size);
    const mode = (found.mode & 0o777) | 0o600;
    if (found.size <= PART_BYTES) {
      const bytes = Buffer.allocUnsafe(found.size);
      const { bytesRead } = await source.read(bytes, 0, found.size, 0);
      await writeFile(to, bytes.subarray(0, bytesRead), { mode, flag: 'wx' });
    } else {
      await copyParts(copy, source, to, found.size, mode);
    }
    return true;
  } finally {
    await source.close();
  }
}

/** As many bytes as it had when it was opened: one that grows meanwhile is not followed. */
async function copyParts(copy: Copy, source: FileHandle, to: Buffer, size: number, mode: number): Promise<void> {
  const target = await open(to, 'wx', mode);
  const part = Buffer.allocUnsafe(PART_BYTES);
  try {
    for (let at = 0; at < size;) {
      copy.cancellation?.throwIfAborted();
      const { bytesRead } = await source.read(part, 0, Math.min(PART_BYTES, size - at), at);
      if (bytesRead === 0) return;
      await target.write(part, 0, bytesRead, at);
      at += bytesRead;
    }
  } finally {
    await target.close();
  }
}

function spend(copy: Copy, bytes: number): void {
  copy.spent.bytes += bytes;
  if (copy.spent.bytes > copy.bounds.bytes) {
    throw new TreeCopyRefused(`its files are more than ${copy.bounds.bytes} bytes together`);
  }
}

async function give({ owner }: Copy, path: Buffer): Promise<void> {
  if (owner != null) await lchown(path, owner.uid, owner.gid);
}

/** `null` when it is no directory, or a link to one. */
async function openDirectory(path: Buffer): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** What somebody who works in the tree may do to a name between two looks at it: remove it, or put something else there. */
function isGone(error: unknown): boolean {
  const code: unknown = Reflect.get(Object(error), 'code');
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EINVAL' || code === 'ENXIO';
}

/** The open directory itself, whatever its path leads to by now. */
function pathOf(directory: FileHandle): string {
  return `/proc/self/fd/${directory.fd}`;
}

function below(directory: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${pathOf(directory)}/`), name]);
}

function child(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}
