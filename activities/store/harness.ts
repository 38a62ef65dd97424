/** What agents are asked, and what reviewers append, in the store. */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { MAX_REVIEWS, type Assignment, type ReviewEntry } from '../../schemas/harness-api.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { Role } from '../../schemas/names.ts';
import type { StoreConnection } from './connect.ts';
import { assignmentRecord, reviewEntryRecord } from './records/harness.ts';
import { readOptional, readRecord, recordText } from './records/read.ts';
import { APPEND_REVIEW } from './scripts/approval.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** The workspace of a reviewer. */
export interface ReviewSeat {
  readonly tenant: string;
  readonly pair: string;
  readonly workspaceGeneration: number;
}

/** Says what the workspace of a role is asked from now on; the one before it is no longer asked anything. User `control`. */
export async function writeAssignment(
  connection: StoreConnection,
  tenant: string,
  assignment: Assignment,
): Promise<void> {
  const key = keysOf(tenant).assignment(assignment.pair, assignment.role);
  await connection.run((redis) => redis.set(key, recordText(assignment)));
}

/** @throws `record_unreadable` */
export async function readAssignment(
  connection: StoreConnection,
  tenant: string,
  pair: string,
  role: Role,
): Promise<Assignment | null> {
  const text = await connection.run((redis) => redis.get(keysOf(tenant).assignment(pair, role)));
  return readOptional('assignment', assignmentRecord, text);
}

/** Keeps what a reviewer appended, under its digest. Repeating it is a no-op. User `gateway`. @throws `limit` */
export async function appendReview(
  connection: StoreConnection,
  { tenant, pair, workspaceGeneration }: ReviewSeat,
  name: string,
  bytes: Uint8Array,
): Promise<ReviewEntry> {
  const keys = keysOf(tenant);
  const entry: ReviewEntry = { name, digest: contentDigest(bytes) };
  const words = await runScript(
    connection,
    APPEND_REVIEW,
    {
      bytes: keys.review(pair, workspaceGeneration, digestHex(entry.digest)),
      log: keys.reviews(pair, workspaceGeneration),
    },
    { bytes, entryText: recordText(entry), most: MAX_REVIEWS },
  );
  if (words[0] === 'full') throw portcullisError('limit', { reason: `a workspace appends ${MAX_REVIEWS} reviews` });
  if (words[0] !== 'appended' && words[0] !== 'same') return unexpectedReply(words);
  return entry;
}

/** What that workspace appended, oldest first. The last entry of a name is the one that counts. */
export async function readReviews(
  connection: StoreConnection,
  { tenant, pair, workspaceGeneration }: ReviewSeat,
): Promise<readonly ReviewEntry[]> {
  const texts = await connection.run((redis) => redis.lrange(keysOf(tenant).reviews(pair, workspaceGeneration), 0, -1));
  return texts.map((text) => readRecord('review entry', reviewEntryRecord, text));
}

/** The bytes of a review of that workspace; `null` when it never appended them. */
export async function readReview(
  connection: StoreConnection,
  { tenant, pair, workspaceGeneration }: ReviewSeat,
  digest: ReviewEntry['digest'],
): Promise<Uint8Array | null> {
  const key = keysOf(tenant).review(pair, workspaceGeneration, digestHex(digest));
  return connection.run((redis) => redis.getBuffer(key));
}
