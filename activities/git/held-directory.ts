/**
 * A directory that somebody else can write, held open: what is read in it is in it, whatever its path names by then. Files in
 * it are read only as plain files of a bounded size, never through a link and never from a pipe.
 */
import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';

export interface Looked {
  readonly kind: 'directory' | 'file' | 'link' | 'other';
  readonly uid: number;
  /** Device and inode: what is mounted later has to be this one. */
  readonly identity: string;
}

export interface HeldDirectory {
  readonly path: string;
  readonly uid: number;
  readonly identity: string;
  /** What is there by this name, links not followed; `null` when nothing is. */
  look(name: string): Promise<Looked | null>;
  /** The names in it, as they come. */
  names(): AsyncIterable<string>;
  /** The bytes of a plain file; `null` when there is none by this name, or one that is larger than this. */
  readFile(name: string, maxBytes: number): Promise<Buffer | null>;
}

/** Works with the directory at a path without links; `null` when it is no directory. */
export async function withDirectory<T>(
  path: string,
  work: (directory: HeldDirectory) => Promise<T>,
): Promise<T | null> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => null);
  if (handle === null) return null;
  try {
    const { uid, dev, ino } = await handle.stat({ bigint: true });
    const within = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
    return await work({
      path,
      uid: Number(uid),
      identity: `${dev}:${ino}`,
      look: (name) => lookAt(within(name)),
      names: () => namesIn(within('')),
      readFile: (name, maxBytes) => readPlainFile(within(name), maxBytes),
    });
  } finally {
    await handle.close();
  }
}

async function* namesIn(path: string): AsyncGenerator<string> {
  for await (const { name } of await opendir(path)) yield name;
}

/** What is at the path, its last part not followed; `null` when nothing is. */
export async function lookAt(path: string): Promise<Looked | null> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (found === null) return null;
  const kind = found.isDirectory() ? 'directory' : found.isFile() ? 'file' : found.isSymbolicLink() ? 'link' : 'other';
  return { kind, uid: Number(found.uid), identity: `${found.dev}:${found.ino}` };
}

/** The bytes of a plain file; `null` when there is none at this path, or one that is larger than this. */
export async function readPlainFile(path: string, maxBytes: number): Promise<Buffer | null> {
  // Without O_NONBLOCK whoever puts a pipe there makes us wait for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => null);
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxBytes) return null;
    const bytes = Buffer.alloc(found.size);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await handle.close();
  }
}
