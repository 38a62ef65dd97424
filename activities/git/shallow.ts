/**
 * Makes the history of an imported commit whole or honestly short. A shallow clone lacks the parents of its oldest commits;
 * those commits are then noted in our own `shallow` file, which is how git itself says that history ends there.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { git, gitSucceeds } from './run.ts';

/** @throws `repository_invalid` when anything but parents of commits is missing */
export async function completeHistory(gitDir: string, commit: string): Promise<void> {
  if (await isConnected(gitDir, commit)) return;
  const cut = await commitsWithMissingParents(gitDir);
  const file = join(gitDir, 'shallow');
  const before = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  await writeFile(file, `${[...new Set([...before, ...cut])].join('\n')}\n`);
  if (await isConnected(gitDir, commit)) return;
  throw portcullisError('repository_invalid', {
    path: 'the bundle',
    reason: 'objects of the commit are missing in it',
  });
}

/** Whether everything that the commit reaches is there. */
async function isConnected(gitDir: string, commit: string): Promise<boolean> {
  return await gitSucceeds({ gitDir, args: ['rev-list', '--objects', '--quiet', commit] });
}

async function commitsWithMissingParents(gitDir: string): Promise<readonly string[]> {
  const listed = await git({
    gitDir,
    args: ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)'],
    timeoutMs: 120_000,
  });
  const commits = new Set(
    listed
      .toString('latin1')
      .split('\n')
      .flatMap((line) => /^commit (\w+)$/.exec(line)?.[1] ?? []),
  );
  const input = `${[...commits].join('\n')}\n`;
  // Unknown parents are printed as they stand in the commit, whether or not they are there.
  const parents = await git({
    gitDir,
    args: ['log', '--no-walk=unsorted', '--stdin', '--format=%H %P'],
    input,
    timeoutMs: 120_000,
  });
  return parents
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [id, ...named] = line.split(' ');
      return id !== undefined && id !== '' && named.some((parent) => parent !== '' && !commits.has(parent)) ? [id] : [];
    });
}
