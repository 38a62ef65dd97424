/** The checkout as the scripted agent works in it: git, and files. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const GIT_MS = 60_000;
const MOST_BYTES = 8 * 1024 * 1024;

/** Git in this directory. What it prints, without the last line end. */
export type Git = (...args: readonly string[]) => Promise<string>;

export function gitIn(directory: string): Git {
  return async (...args) => {
    const options = { cwd: directory, timeout: GIT_MS, maxBuffer: MOST_BYTES };
    const { stdout } = await promisify(execFile)('git', [...args], options);
    return stdout.replace(/\n$/, '');
  };
}

/** What git prints, or `null` when it fails: for looking whether something is there. */
export async function tryGit(git: Git, ...args: readonly string[]): Promise<string | null> {
  try {
    return await git(...args);
  } catch {
    return null;
  }
}

/** Brings the branch to where it was pushed last: a fresh workspace starts there, and an old one may be behind. */
export async function syncBranch(git: Git, branch: string): Promise<void> {
  await git('fetch', '--quiet', 'origin');
  const pushed = await tryGit(git, 'rev-parse', '--verify', '--quiet', `refs/remotes/origin/${branch}`);
  if (pushed === null || pushed === '') return;
  await git('reset', '--quiet', '--hard', pushed);
}

/** Commits everything and pushes it; the commit. */
export async function commitAndPush(git: Git, branch: string, message: string): Promise<string> {
  await git('add', '--all');
  if ((await git('status', '--porcelain')) !== '') await git('commit', '--quiet', '--message', message);
  await git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
  return git('rev-parse', 'HEAD');
}
