/**
 * Makes the history of an imported commit whole or honestly short. A shallow clone lacks the parents of its oldest commits;
 * those commits are then noted in our own `shallow` file, which is how git itself says that history ends there.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { gitLines, gitSucceeds } from './run.ts';

/** A history of millions of objects is listed in a minute. */
const LISTING_MS = 10 * 60_000;

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
  const commits = new Set<string>();
  const listing = ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objecttype) %(objectname)'];
  await gitLines({ gitDir, args: listing, timeoutMs: LISTING_MS }, [], (line) => {
    const commit = /^commit (\w+)$/.exec(line)?.[1];
    if (commit !== undefined) commits.add(commit);
  });
  const cut: string[] = [];
  // Unknown parents are printed as they stand in the commit, whether or not they are there.
  const parents = ['log', '--no-walk=unsorted', '--stdin', '--format=%H %P'];
  await gitLines({ gitDir, args: parents, timeoutMs: LISTING_MS }, linesOf(commits), (line) => {
    const [id, ...named] = line.split(' ');
    if (id !== undefined && id !== '' && named.some((parent) => parent !== '' && !commits.has(parent))) cut.push(id);
  });
  return cut;
}

function* linesOf(commits: Iterable<string>): Generator<string> {
  for (const commit of commits) yield `${commit}\n`;
}
