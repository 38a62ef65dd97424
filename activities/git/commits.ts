/** What is asked about commits of the control plane's own repositories, and how it makes its own. */
import { portcullisError } from '../../schemas/errors.ts';
import { branchRef, checkedCommit, formerRef } from '../../schemas/git/refs.ts';
import type { PlacedBranch, PushedAnswer } from '../../schemas/git/activities.ts';
import { hasCommit, treeOf } from './repository.ts';
import { gitLine, gitSucceeds, git, runGit } from './run.ts';

/** @throws `not_found` */
export async function requireCommit(gitDir: string, commit: string): Promise<void> {
  if (!(await hasCommit(gitDir, commit))) throw portcullisError('not_found', { what: 'commit', id: commit });
}

/** Whether `descendant` is `ancestor` or builds on it. Unknown commits build on nothing. */
export async function isAncestor(gitDir: string, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', checkedCommit(ancestor), checkedCommit(descendant)];
  return await gitSucceeds({ gitDir, args });
}

/** The commit that a ref of our own is at; `null` when it is not there. @throws `repository_invalid` when git cannot tell */
export async function commitAt(gitDir: string, ref: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  const { code, stdout, complaint: reason } = await runGit({ gitDir, args });
  if (code === 0) return stdout.toString('utf8').trim();
  if (code === 1) return null;
  throw portcullisError('repository_invalid', { path: 'the repository', reason });
}

/** First parent first. @throws `not_found` */
export async function parentsOf(gitDir: string, commit: string): Promise<readonly string[]> {
  await requireCommit(gitDir, commit);
  const line = await gitLine({ gitDir, args: ['rev-list', '--parents', '-n', '1', checkedCommit(commit)] });
  return line.split(' ').slice(1);
}

/** Moves a ref from exactly one commit (`null`: it is not there) to another; false when it is elsewhere. */
export async function moveRef(gitDir: string, ref: string, from: string | null, to: string): Promise<boolean> {
  const old = from ?? '0'.repeat(to.length);
  return await gitSucceeds({ gitDir, args: ['update-ref', '--no-deref', ref, checkedCommit(to), old] });
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Everything in it comes from its input, so that a repeated step makes the same commit. */
export async function makeCommit(gitDir: string, { tree, parents, message, at }: NewCommit): Promise<string> {
  const date = `@${Math.floor(at / 1000)} +0000`;
  const [name, email] = ['Portcullis', 'portcullis@localhost'];
  return await gitLine({
    gitDir,
    args: ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'],
    input: `${message.trimEnd()}\n`,
    environment: {
      ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
      ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date },
    },
  });
}

interface Pushed {
  readonly commit: string;
  readonly branch: string;
  readonly after: string;
}

/**
 * Whether this exact commit is on the pushed branch, on top of the one that was accepted before.
 * @throws `repository_invalid` when nobody can tell
 */
export async function checkPushed(gitDir: string, asked: Pushed): Promise<PushedAnswer> {
  const answer = await lookForPushed(gitDir, asked);
  // Nothing is there in a repository that cannot be read, which is no answer about the commit.
  if (!answer.pushed) await git({ gitDir, args: ['rev-parse', '--git-dir'] });
  return answer;
}

async function lookForPushed(gitDir: string, { commit, branch, after }: Pushed): Promise<PushedAnswer> {
  if (!(await hasCommit(gitDir, commit))) return { pushed: false, reason: 'unknown_commit' };
  const tip = await commitAt(gitDir, branchRef(branch));
  if (tip === null || !(await isAncestor(gitDir, commit, tip))) return { pushed: false, reason: 'not_on_branch' };
  if (!(await isAncestor(gitDir, after, commit))) return { pushed: false, reason: 'not_after' };
  return { pushed: true, tree: await treeOf(gitDir, commit) };
}

const PLACE_ATTEMPTS = 5;

/** Puts the branch on the commit; what it had, and the commit has not, is kept. @throws `not_found`, `state_conflict` */
export async function placeBranch(gitDir: string, branch: string, commit: string): Promise<PlacedBranch> {
  await requireCommit(gitDir, commit);
  for (let attempt = 0; attempt < PLACE_ATTEMPTS; attempt += 1) {
    const tip = await commitAt(gitDir, branchRef(branch));
    if (tip === commit) return { former: null };
    const former = tip !== null && !(await isAncestor(gitDir, tip, commit)) ? tip : null;
    if (former !== null) await git({ gitDir, args: ['update-ref', formerRef(former), former] });
    if (await moveRef(gitDir, branchRef(branch), tip, commit)) return { former };
  }
  throw portcullisError('state_conflict', { what: `The branch ${branch}` });
}
