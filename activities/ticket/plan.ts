/** Reads PLAN.md as a blob at an exact commit of our own repository: how many segments it plans, and the digest of its bytes. */
import { contentDigest } from '../../schemas/digest.ts';
import type { PlanAnswer, PlanRequest } from '../../schemas/ticket/activities.ts';
import { repositoryPath } from '../git/repository.ts';
import { readFileAt } from '../git/files.ts';

const PLAN_PATH = 'PLAN.md';
const PLAN_BYTES = 256 * 1024;
/** More are more than one ticket. */
const SEGMENT_LIMIT = 16;
/** `## Segment 2`, `## Segment 2: parsing`. */
const SEGMENT_HEADING = /^##[ \t]+Segment[ \t]+([1-9][0-9]?)(?=\s|:|$)/gim;

/** A missing, empty or unreadable plan is an answer. @throws `not_found` when the commit is not there */
export async function readPlan(repositoriesDir: string, { tenant, ticket, commit }: PlanRequest): Promise<PlanAnswer> {
  const gitDir = repositoryPath(repositoriesDir, tenant, ticket);
  const file = await readFileAt(gitDir, { commit, path: PLAN_PATH, maxBytes: PLAN_BYTES });
  if (file.state !== 'present') return refusal(file.state.replace('_', ' '));
  const text = readText(file.bytes);
  if (text === null) return refusal('not UTF-8');
  if (text.trim() === '') return refusal('empty');
  const segments = plannedSegments(text);
  if (segments === null) return refusal(`without segments that are numbered from 1 to at most ${SEGMENT_LIMIT}`);
  return { found: true, digest: contentDigest(file.bytes), segments };
}

/** How many segments the plan has headings for, numbered from 1 without a gap; `null` when it does not say. */
export function plannedSegments(text: string): number | null {
  const numbers = [...text.matchAll(SEGMENT_HEADING)].map(([, n]) => Number(n));
  const inOrder = numbers.every((n, index) => n === index + 1);
  return numbers.length === 0 || numbers.length > SEGMENT_LIMIT || !inOrder ? null : numbers.length;
}

function readText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refusal(reason: string): PlanAnswer {
  return { found: false, reason: `${PLAN_PATH} (${reason})` };
}
