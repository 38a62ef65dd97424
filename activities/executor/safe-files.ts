/** Opens files in a directory that a command could write: no link is followed, nothing that is not a plain file is read. */
import { constants, open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bytePathBelow, bytePathOf, bytesOf, type BytePath } from './byte-path.ts';

/**
 * Files below one root. Used when no process of the command is left, so nothing changes underneath and what was found out
 * about a directory stays true.
 */
export interface SafeFiles {
  /** True when every directory on the way to the path is what its name says: no link leads elsewhere, inside or out. */
  isReached(path: BytePath): Promise<boolean>;
  /** A plain file, or `null`. */
  open(path: BytePath): Promise<FileHandle | null>;
}

/** `root` must be its own real path. */
export function safeFiles(root: string): SafeFiles {
  const directories = new Map<string, Promise<boolean>>();
  const below = dirname(bytePathBelow(root, bytePathOf('x')));

  function isReached(path: BytePath): Promise<boolean> {
    const directory = dirname(bytePathBelow(root, path));
    // Below the root by its text too: `..` leads out without any link.
    if (directory !== below && !directory.startsWith(`${below}/`)) return Promise.resolve(false);
    const known = directories.get(directory);
    if (known !== undefined) return known;
    const bytes = bytesOf(directory);
    const found = realpath(bytes, { encoding: 'buffer' }).then(
      (real) => real.equals(bytes),
      () => false,
    );
    directories.set(directory, found);
    return found;
  }

  return {
    isReached,
    async open(path) {
      if (!(await isReached(path))) return null;
      try {
        // Non-blocking, or a named pipe would be waited on for ever.
        const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
        const file = await open(bytesOf(bytePathBelow(root, path)), flags);
        if ((await file.stat()).isFile()) return file;
        await file.close();
        return null;
      } catch {
        return null;
      }
    },
  };
}

/** The text of a small plain file inside `root`; `null` when it is missing, larger than `maxBytes`, or no plain file. */
export async function readInside(root: string, path: string, maxBytes: number): Promise<string | null> {
  const file = await safeFiles(root).open(bytePathOf(path));
  if (file === null) return null;
  try {
    return (await file.stat()).size > maxBytes ? null : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
