/**
 * Gives a command its own copy of prepared `node_modules`, in place of whatever the tree has there. No process of the command
 * runs yet, so what was found out about a directory stays true.
 */
import { execFile } from 'node:child_process';
import { access, lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { portcullisError } from '../../../schemas/errors.ts';
import { removeTree } from '../run-directory.ts';

const run = promisify(execFile);

/**
 * @param work its own real path
 * @throws `prepare_failed` when the tree leads elsewhere on the way; the signal's reason
 */
export async function placeModules(
  tree: string,
  work: string,
  places: readonly string[],
  cancellation: AbortSignal,
): Promise<void> {
  for (const place of places) {
    const source = join(tree, place, 'node_modules');
    if (!(await isDirectory(source))) continue;
    const parent = join(work, place);
    if ((await realpath(parent).catch(() => '')) !== parent) {
      throw portcullisError('prepare_failed', { reason: `${place} of the tree is not a plain directory` });
    }
    const target = join(parent, 'node_modules');
    await removeTree(target);
    await copyDirectory(source, target, cancellation);
  }
}

/** Links stay links. @throws what `cp` said; the signal's reason */
export async function copyDirectory(source: string, target: string, cancellation: AbortSignal): Promise<void> {
  await run('cp', ['-a', '--reflink=auto', '--no-target-directory', '--', source, target], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
    signal: cancellation,
  });
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    await access(path);
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
}
