/** A private copy of a producer's live tree, uncommitted work included. Files only: git is never asked about that directory. */
import { cp, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';

/** @throws `failed_to_start` when the tree is not there or changes too much to be copied. */
export async function copyWorktree(from: string, to: string): Promise<void> {
  try {
    if (!(await lstat(from)).isDirectory()) throw new Error('it is not a directory');
    await cp(from, to, {
      recursive: true,
      // Links are copied as links, never followed: what they name is looked up inside the sandbox.
      verbatimSymlinks: true,
      filter: async (source) => source !== join(from, '.git') && isCopied(await lstat(source)),
    });
  } catch (error) {
    throw portcullisError('failed_to_start', { reason: 'the worktree could not be copied' }, error);
  }
}

/** Sockets, pipes and devices are no part of a tree. */
function isCopied(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}
