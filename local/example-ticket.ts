/** The example ticket and the bare remote that its change lands on: a new one for each start, so that there is something to do. */
import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from './package-root.ts';

export const EXAMPLE_TICKET_FILE = join(PACKAGE_ROOT, 'examples', 'tickets', 'T-048.yaml');
/** The ticket of the first start; each later start takes the next number. */
const FIRST_NUMBER = 48;

/** The first id that no ticket has. */
export function nextExampleTicket(taken: readonly string[]): string {
  for (let number = FIRST_NUMBER; ; number += 1) {
    const id = `T-${String(number).padStart(3, '0')}`;
    if (!taken.includes(id)) return id;
  }
}

/** A bare clone of the example's repository below `remotes`, where the local stack may land changes. @returns its path */
export async function exampleRemote(remotes: string, ticket: string, repository: string): Promise<string> {
  const remote = join(remotes, `${ticket}.git`);
  await mkdir(remotes, { recursive: true, mode: 0o700 });
  await rm(remote, { recursive: true, force: true });
  await git(['clone', '--quiet', '--bare', '--no-hardlinks', '--template=', repository, remote]);
  return remote;
}

/** The newest commits of the remote's branch, newest first, one line each. */
export async function remoteLog(remote: string, branch: string): Promise<readonly string[]> {
  const { stdout } = await git(['--git-dir', remote, 'log', '--format=%h %s', '--max-count=5', branch]);
  return stdout.trim().split('\n');
}

function git(args: readonly string[]) {
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return promisify(execFile)('git', [...args], { env, timeout: 30_000 });
}
