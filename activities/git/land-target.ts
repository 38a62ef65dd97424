/** The branch that is landed on, wherever it is. What it says of a move is not believed: it is read back. */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Landing } from '../../schemas/git/activities.ts';
import { branchRef, checkedCommit } from '../../schemas/git/refs.ts';
import { commitAt, moveRef } from './commits.ts';
import { checkedRemote, fetchRemote, pushRemote, readRemote, type GitRemotes, type MoveAnswer } from './remote.ts';
import { git, runGit } from './run.ts';

export interface LandTarget {
  /** Names the repository for everybody who lands on it. */
  readonly repository: string;
  /** @throws `remote_unavailable`, `repository_invalid` when it cannot be read; `null`: there is no such branch */
  read(): Promise<string | null>;
  /** Whether the branch, now at this commit, has the candidate in it. @throws as {@link read} */
  holds(now: string | null, candidate: string): Promise<boolean>;
  move(from: string, to: string): Promise<MoveAnswer>;
  /** After the branch moved: our own copy says so too, where it can; the next fetch brings it in any case. */
  follow(to: string): Promise<void>;
}

/** @throws `remote_refused` */
export function landTarget(gitDir: string, remotes: GitRemotes, { remote: name, branch, pair }: Landing): LandTarget {
  const ref = branchRef(branch);
  if (name === null) {
    return {
      repository: pair,
      read: () => commitAt(gitDir, ref),
      holds: (now, candidate) => isIn(gitDir, candidate, now),
      move: async (from, to) => {
        try {
          return (await moveRef(gitDir, ref, from, to)) ? MOVED : { said: 'refused', complaint: 'it is elsewhere' };
        } catch (thrown) {
          return { said: 'unknown', complaint: String(thrown) };
        }
      },
      follow: () => Promise.resolve(),
    };
  }
  const remote = checkedRemote(remotes, name);
  return {
    repository: repositoryName(remote.url),
    read: () => readRemote(gitDir, remote, branch),
    holds: async (now, candidate) => {
      if (now !== null && now !== candidate) await fetchRemote(gitDir, remote, branch, ref);
      return await isIn(gitDir, candidate, now);
    },
    move: (from, to) => pushRemote(gitDir, remote, branch, { from, to }),
    follow: async (to) => {
      await git({ gitDir, args: ['update-ref', ref, to] }).catch(() => {});
    },
  };
}

const MOVED: MoveAnswer = { said: 'moved', complaint: '' };

/** Yes and no are git's two answers; anything else is none, and says nothing of where the candidate is. */
async function isIn(gitDir: string, candidate: string, now: string | null): Promise<boolean> {
  if (now === null || now === candidate) return now === candidate;
  const args = ['merge-base', '--is-ancestor', checkedCommit(candidate), checkedCommit(now)];
  const { code, complaint } = await runGit({ gitDir, args });
  if (code !== 0 && code !== 1) throw portcullisError('repository_invalid', { path: 'the branch', reason: complaint });
  return code === 0;
}

/** A name for the lease's key: tickets that land on one remote share it. */
function repositoryName(url: string): string {
  return `remote-${digestHex(contentDigest(new TextEncoder().encode(url))).slice(0, 20)}`;
}
