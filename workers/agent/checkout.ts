/** The checkout of a workspace: a clone through the gateway, at exactly the commit that was named. */
import { execFile } from 'node:child_process';
import { access, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from '../../activities/executor/run-directory.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { contained, type Containment } from './contained.ts';
import { gitEnvironment, remoteUrl } from './git-settings.ts';
import type { AgentGrant } from './grant.ts';
import type { HarnessSettings } from './settings.ts';

const run = promisify(execFile);
const GIT_MS = 120_000;

/** What git was asked and how long it took, for the start log. */
export type StartLog = (text: string) => void;

/** What git runs with: as contained as a turn, for the same reason. */
interface Surroundings extends Containment {
  readonly settings: HarnessSettings;
}

/**
 * Makes the checkout, or leaves the one that is there: after a restart of the harness it may hold unpushed work. One that is not
 * whole is made anew and never gone on with: whatever is in it may be the agent's.
 * @throws `repository_invalid` with what git said
 */
export async function makeCheckout(surroundings: Surroundings, grant: AgentGrant, log: StartLog): Promise<void> {
  const { checkout } = surroundings.settings;
  if (checkout === null) return;
  const { directory, head, branch } = checkout;
  if (await isComplete(directory)) {
    log(`the checkout is there: ${directory}`);
    return;
  }
  if (!(await isFree(directory))) {
    log(`the checkout is not whole and is made anew: ${directory}`);
    await removeTree(directory);
  }
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const git = (...args: readonly string[]) => runGit(surroundings, directory, args);
  await git('init', '--quiet');
  await git('config', 'remote.origin.url', remoteUrl(grant));
  await git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  await git('fetch', '--quiet', 'origin');
  // No ref need lead to the commit: a candidate has none.
  if (!(await hasCommit(git, head))) await git('fetch', '--quiet', 'origin', head);
  if (branch === null) await git('checkout', '--quiet', '--detach', head);
  else await git('checkout', '--quiet', '-B', branch, head);
  log(`checked out ${head.slice(0, 12)}${branch === null ? '' : ` on ${branch}`}`);
}

async function hasCommit(git: (...args: readonly string[]) => Promise<string>, commit: string): Promise<boolean> {
  try {
    await git('cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** Nothing is there, or a directory with nothing in it: a template may have made it. */
async function isFree(directory: string): Promise<boolean> {
  const there = await lstat(directory).catch(() => null);
  return there === null || (there.isDirectory() && (await readdir(directory)).length === 0);
}

/** HEAD alone is there after `init`; the index comes with the checkout. */
async function isComplete(directory: string): Promise<boolean> {
  try {
    await access(join(directory, '.git', 'index'));
    return true;
  } catch {
    return false;
  }
}

async function runGit(surroundings: Surroundings, directory: string, args: readonly string[]): Promise<string> {
  const { settings } = surroundings;
  const [program, ...words] = contained(surroundings, directory, ['git', ...args]);
  try {
    const { stdout } = await run(program, words, {
      cwd: '/',
      timeout: GIT_MS,
      killSignal: 'SIGKILL',
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: settings.home,
        LC_ALL: 'C',
        ...gitEnvironment(settings.privateDirectory),
      },
    });
    return stdout;
  } catch (error) {
    const said: unknown = Reflect.get(Object(error), 'stderr');
    const reason = typeof said === 'string' && said.trim() !== '' ? said.trim().slice(-500) : String(error);
    throw portcullisError('repository_invalid', { path: directory, reason: `git ${args[0] ?? ''}: ${reason}` }, error);
  }
}
