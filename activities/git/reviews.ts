/**
 * Reviews are commits of the control plane beside the branch: the producer could write a file on its branch, and each would
 * move the head that is judged. Append only: a name that is there is never replaced.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentDigest, type ContentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedReviewName, reviewsRef } from '../../schemas/git/refs.ts';
import { MAX_REVIEW_BYTES } from '../../schemas/harness-api.ts';
import { commitAt, makeCommit, moveRef } from './commits.ts';
import { readFileAt } from './files.ts';
import { git, gitLine, runGit } from './run.ts';

const ATTEMPTS = 10;

export interface ReviewAppend {
  /** Pair and ticket: their ids are equal. */
  readonly pair: string;
  /** Path in the reviews' tree; `checkedReviewName`. */
  readonly name: string;
  /** As the reviewer appended them, whatever they are: what is committed has the digest that was approved. */
  readonly bytes: Uint8Array;
  /** Milliseconds since the epoch, given by the workflow so that a repeated call makes the same commit. */
  readonly at: number;
  /** Credential id of the reviewer. */
  readonly by: string;
}

export interface AppendedReview {
  /** On `refs/portcullis/reviews/{ticket}`, in which the review is at `name`. */
  readonly commit: string;
  readonly digest: ContentDigest;
}

/**
 * Never replaces: the same bytes again give the first commit. @throws `state_conflict` for other bytes under that name,
 * `body_too_large`, `schema_invalid` for a name or no bytes
 */
export async function appendReview(gitDir: string, review: ReviewAppend): Promise<AppendedReview> {
  const name = checkedReviewName(review.name);
  const ref = reviewsRef(review.pair);
  const { bytes } = review;
  if (bytes.length === 0) throw portcullisError('schema_invalid', { path: 'bytes', reason: 'are none' });
  if (bytes.length > MAX_REVIEW_BYTES) throw portcullisError('body_too_large', { limit: MAX_REVIEW_BYTES });
  const digest = contentDigest(bytes);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tip = await commitAt(gitDir, ref);
    const there =
      tip === null ? null : await readFileAt(gitDir, { commit: tip, path: name, maxBytes: MAX_REVIEW_BYTES });
    if (tip !== null && there !== null && there.state !== 'missing') {
      const same = there.state === 'present' && contentDigest(there.bytes) === digest;
      if (!same) throw portcullisError('state_conflict', { what: `The review ${name}` });
      return { commit: await firstWith(gitDir, tip, name), digest };
    }
    const tree = await treeWith(gitDir, tip, name, bytes);
    const message = `Review ${name}\n\nReviewed-By: ${review.by}\nContent: ${digest}`;
    const parents = tip === null ? [] : [tip];
    const commit = await makeCommit(gitDir, { tree, parents, message, at: review.at });
    // Another review may have been appended meanwhile; then this one goes on top of it.
    if (await moveRef(gitDir, ref, tip, commit)) return { commit, digest };
  }
  throw portcullisError('state_conflict', { what: `The line of reviews of ${review.pair}` });
}

/** The commit that brought the review: a repeated append is told the same. */
async function firstWith(gitDir: string, tip: string, name: string): Promise<string> {
  return await gitLine({ gitDir, args: ['--literal-pathspecs', 'rev-list', '-1', tip, '--', name] });
}

/** The tree of the tip with one more file, made in an index of its own. @throws `state_conflict` */
async function treeWith(gitDir: string, tip: string | null, name: string, bytes: Uint8Array): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-review-'));
  const environment = { GIT_INDEX_FILE: join(directory, 'index') };
  try {
    const blob = await gitLine({ gitDir, args: ['hash-object', '-w', '--stdin'], input: bytes });
    await git({ gitDir, args: ['read-tree', ...(tip === null ? ['--empty'] : [tip])], environment });
    const entry = `100644,${blob},${name}`;
    const added = await runGit({ gitDir, args: ['update-index', '--add', '--cacheinfo', entry], environment });
    // A file where the name needs a directory, or the other way round: that would replace it.
    if (added.code !== 0) throw portcullisError('state_conflict', { what: `The review ${name}` });
    return await gitLine({ gitDir, args: ['write-tree'], environment });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
