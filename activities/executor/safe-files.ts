/** Opens files in a directory that a command could write: no link is followed, nothing that is not a plain file is read. */
import { constants, open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * A plain file inside `root`, or `null`. Every directory on the way must be what its name says: a link that leads elsewhere,
 * inside or out, is not followed. Called when no process of the command is left, so nothing changes underneath.
 */
export async function openInside(root: string, path: string): Promise<FileHandle | null> {
  const whole = join(root, path);
  try {
    // Names of a repository are bytes; only a path that is itself after resolution is the one that was meant.
    if ((await realpath(dirname(whole))) !== dirname(whole)) return null;
    // Non-blocking, or a named pipe would be waited on for ever.
    const file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return null;
  } catch {
    return null;
  }
}

/** The text of a small plain file inside `root`; `null` when it is missing, larger than `maxBytes`, or no plain file. */
export async function readInside(root: string, path: string, maxBytes: number): Promise<string | null> {
  const file = await openInside(root, path);
  if (file === null) return null;
  try {
    return (await file.stat()).size > maxBytes ? null : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
