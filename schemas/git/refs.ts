/**
 * Branches and refs of a pair's repository, named in one place. What a producer may push is a branch of its own; everything
 * below `refs/portcullis/` is the control plane's.
 *
 * @example branchOf('forge', 'T-048') // 'portcullis/T-048'
 */
import { portcullisError } from '../errors.ts';
import { checkedName, COMMIT_PATTERN, type Role } from '../names.ts';

/** What git takes for a branch, and a little less: no two names that a reader could confuse. */
const BRANCH_PATTERN = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?$/;
const NOT_IN_A_BRANCH = /\.\.|\/\/|\/\.|\.\/|\.lock(?:\/|$)/;

export function isBranch(text: string): boolean {
  return BRANCH_PATTERN.test(text) && !NOT_IN_A_BRANCH.test(text);
}

/** The branch itself when it is one. @throws `schema_invalid` */
export function checkedBranch(text: string): string {
  if (!isBranch(text))
    throw portcullisError('schema_invalid', { path: 'branch', reason: 'is not the name of a branch' });
  return text;
}

/** The one branch that the agent of this role may push; `null` for a role that only reads. @throws `schema_invalid` for a ticket that no branch can be named after */
export function branchOf(role: Role, ticket: string): string | null {
  switch (role) {
    case 'forge':
      return checkedBranch(`portcullis/${checkedName('ticket', ticket)}`);
    case 'lore':
      return checkedBranch(`portcullis-docs/${checkedName('ticket', ticket)}`);
    case 'sentinel':
    case 'verifier':
    case 'vessel':
    case 'operator':
      return null;
  }
}

export function branchRef(branch: string): string {
  return `refs/heads/${checkedBranch(branch)}`;
}

/** Below this nothing is pushed by anybody, and only what is listed in {@link READABLE_REFS} is shown. */
export const OWN_REFS = 'refs/portcullis';

const REVIEWS = `${OWN_REFS}/reviews`;
const FORMER = `${OWN_REFS}/former`;
export const READABLE_REFS = [REVIEWS, FORMER] as const;

/** The reviews of a ticket: an append-only line of commits, beside the branch. */
export function reviewsRef(ticket: string): string {
  checkedBranch(ticket);
  return `${REVIEWS}/${checkedName('ticket', ticket)}`;
}

/** Keeps a merge candidate alive. */
export function candidateRef(commit: string): string {
  return `${OWN_REFS}/candidates/${checkedCommit(commit)}`;
}

/** Keeps what a branch of an earlier execution had. */
export function formerRef(commit: string): string {
  return `${FORMER}/${checkedCommit(commit)}`;
}

/** The commit itself when it is one. @throws `schema_invalid` */
export function checkedCommit(commit: string): string {
  if (COMMIT_PATTERN.test(commit)) return commit;
  throw portcullisError('schema_invalid', { path: 'commit', reason: 'must be 40 or 64 hex digits' });
}

const REVIEW_PART = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** Path of a review in its ref: `final-review.md`, `round-2/segment-1-eval.md`. @throws `schema_invalid` */
export function checkedReviewName(name: string): string {
  const parts = name.split('/');
  if (name.length <= 200 && parts.length <= 4 && parts.every((part) => REVIEW_PART.test(part))) return name;
  throw portcullisError('schema_invalid', { path: 'name', reason: 'is not the name of a review' });
}
