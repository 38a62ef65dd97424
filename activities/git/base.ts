/** The branches that a pair's repository shares with the remote: the base that comes in, the producer's that goes out. */
import { rm } from 'node:fs/promises';
import { portcullisError } from '../../schemas/errors.ts';
import type { RemoteName } from '../../schemas/git/activities.ts';
import { branchRef } from '../../schemas/git/refs.ts';
import { commitAt, moveRef, requireCommit } from './commits.ts';
import { checkedRemote, fetchRemote, pushRemote, readRemote, type GitRemotes, type Remote } from './remote.ts';
import { ensureRepository } from './repository.ts';

export interface Base {
  readonly remote: RemoteName;
  readonly branch: string;
  /** Without a remote: where the branch starts when it is not there yet. */
  readonly initial: string | null;
}

/** Brings the newest base in; its commit. @throws `not_found`, `remote_refused`, `remote_unavailable` */
export async function fetchBase(gitDir: string, remotes: GitRemotes, base: Base): Promise<string> {
  const { remote: name, branch, initial } = base;
  const ref = branchRef(branch);
  if (name === null) {
    const there = await commitAt(gitDir, ref);
    if (there !== null) return there;
    if (initial === null) throw portcullisError('not_found', { what: 'branch', id: branch });
    await requireCommit(gitDir, initial);
    await moveRef(gitDir, ref, null, initial);
  } else {
    await bring(gitDir, checkedRemote(remotes, name), branch);
  }
  const commit = await commitAt(gitDir, ref);
  if (commit === null) throw portcullisError('not_found', { what: 'branch', id: branch });
  return commit;
}

async function bring(gitDir: string, remote: Remote, branch: string): Promise<void> {
  const made = await ensureRepository(gitDir, '0'.repeat(40));
  const commit = await readRemote(gitDir, remote, branch);
  if (commit === null) throw portcullisError('not_found', { what: 'branch', id: branch });
  if (made && commit.length === 64) {
    // Only now is it known that the remote is of the other kind.
    await rm(gitDir, { recursive: true });
    await ensureRepository(gitDir, commit);
  }
  if ((await commitAt(gitDir, branchRef(branch))) === commit) return;
  await fetchRemote(gitDir, remote, branch, branchRef(branch));
}

/** A branch that a producer pushes here; no other is written on a remote but by landing. */
const PRODUCERS = /^portcullis(?:-docs)?\//;

/**
 * Puts a producer's branch on the remote, at this commit, from wherever it is there: the branch is ours.
 * @throws `remote_refused`, `remote_unavailable`
 */
export async function mirrorBranch(
  gitDir: string,
  remotes: GitRemotes,
  { remote: name, branch, commit }: { readonly remote: string; readonly branch: string; readonly commit: string },
): Promise<void> {
  if (!PRODUCERS.test(branch)) throw portcullisError('remote_refused', { reason: `${branch} is no producer's branch` });
  const remote = checkedRemote(remotes, name);
  await requireCommit(gitDir, commit);
  const from = await readRemote(gitDir, remote, branch);
  if (from === commit) return;
  const { complaint } = await pushRemote(gitDir, remote, branch, { from, to: commit });
  if ((await readRemote(gitDir, remote, branch)) === commit) return;
  throw portcullisError('remote_refused', { reason: complaint || 'the branch did not move' });
}
