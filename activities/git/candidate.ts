/**
 * The merge candidate: head combined with base by the control plane, without a checkout. What is judged is this commit, and
 * only this commit lands (docs/decisions/0006-what-lands.md).
 */
import { portcullisError } from '../../schemas/errors.ts';
import type { CandidateAnswer } from '../../schemas/git/activities.ts';
import { candidateRef } from '../../schemas/git/refs.ts';
import { isAncestor, makeCommit, requireCommit } from './commits.ts';
import { treeOf } from './repository.ts';
import { git, runGit } from './run.ts';

export interface CandidateParts {
  readonly base: string;
  readonly head: string;
  readonly message: string;
  readonly squash: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const MERGE_MS = 120_000;
const MAX_MESSAGE_CHARS = 16_000;
/** More conflicts than this are not listed. */
const MAX_CONFLICTS = 200;

/** Equal parts make the equal commit. @throws `not_found`, `schema_invalid` for a message, `repository_invalid` */
export async function makeCandidate(gitDir: string, parts: CandidateParts): Promise<CandidateAnswer> {
  const { base, head } = parts;
  await requireCommit(gitDir, base);
  await requireCommit(gitDir, head);
  if (await isAncestor(gitDir, head, base)) return { kind: 'nothing' };
  const merged = await mergeTree(gitDir, base, head);
  if (typeof merged !== 'string') return merged;
  if (merged === (await treeOf(gitDir, base))) return { kind: 'nothing' };
  const commit = await makeCommit(gitDir, {
    tree: merged,
    parents: parts.squash ? [base] : [base, head],
    message: `${checkedMessage(parts.message)}\n\nPortcullis-Base: ${base}\nPortcullis-Head: ${head}`,
    at: parts.at,
  });
  await git({ gitDir, args: ['update-ref', candidateRef(commit), commit] });
  return { kind: 'candidate', commit, tree: merged, base, head };
}

/** The tree that base and head combine to; `null` when they do not. */
export async function combinedTree(gitDir: string, base: string, head: string): Promise<string | null> {
  const merged = await mergeTree(gitDir, base, head);
  return typeof merged === 'string' ? merged : null;
}

/** The combined tree, or where the two contradict each other. */
async function mergeTree(gitDir: string, base: string, head: string): Promise<string | CandidateAnswer> {
  const options = ['--write-tree', '--name-only', '--no-messages', '-z'];
  const ended = await runGit({ gitDir, args: ['merge-tree', ...options, base, head], timeoutMs: MERGE_MS });
  const [tree, ...paths] = ended.stdout.toString('utf8').split('\0');
  if (ended.code === 0 && tree !== undefined) return tree.trim();
  if (ended.code === 1) {
    const conflicts = paths.filter((path) => path !== '').slice(0, MAX_CONFLICTS);
    return { kind: 'conflict', paths: conflicts, reason: 'base and head change the same lines' };
  }
  if (!(await haveHistoryInCommon(gitDir, base, head))) {
    return { kind: 'conflict', paths: [], reason: 'base and head have no history in common' };
  }
  throw portcullisError('repository_invalid', { path: 'the merge', reason: ended.complaint });
}

async function haveHistoryInCommon(gitDir: string, base: string, head: string): Promise<boolean> {
  return (await runGit({ gitDir, args: ['merge-base', base, head] })).code === 0;
}

/** The message is prose of somebody else; a line of it must not read as one of our trailers. */
function checkedMessage(message: string): string {
  const text = message.trim();
  if (text === '' || text.length > MAX_MESSAGE_CHARS || !text.isWellFormed() || text.includes('\0')) {
    throw portcullisError('schema_invalid', { path: 'message', reason: 'must be a text of 1 to 16,000 characters' });
  }
  return text.replaceAll(/^(?=portcullis-)/gim, '> ');
}
