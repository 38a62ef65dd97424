/** The producer's live tree as the copy that a command runs in. */
import { portcullisError } from '../../schemas/errors.ts';
import { copyTree, TreeCopyRefused } from './copy-tree.ts';

/** @throws `failed_to_start` when the tree is not there, too large, or changes too much to be copied; the signal's reason */
export async function copyWorktree(from: string, to: string, cancellation: AbortSignal): Promise<void> {
  try {
    await copyTree({ from, to, cancellation });
  } catch (error) {
    cancellation.throwIfAborted();
    const why = error instanceof TreeCopyRefused ? `: ${error.message}` : '';
    throw portcullisError('failed_to_start', { reason: `the worktree could not be copied${why}` }, error);
  }
}
