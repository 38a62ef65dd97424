/**
 * Who reviews: one reviewer for each verifier class that the subject's policy requires, and `min` of each, every one another
 * principal (spec/gate.md section 5: two required classes need two).
 */
import { portcullisError } from '../../schemas/errors.ts';
import { segmentReviewName } from '../../schemas/harness-api.ts';
import type { Principal } from '../../schemas/gate/references.ts';
import { SECURITY_CLASS } from '../../schemas/gate/vocabulary.ts';
import type { PlannedReview } from '../../schemas/verification/activities.ts';
import { REVIEW_SESSIONS, SEATS_A_ROLE, type SubjectParameters } from '../../schemas/verification/workflow.ts';

/** The class of the general reviewer; policies name it. */
export const REVIEWER_CLASS = 'reviewer';

/** Classes that an agent can be asked to be. Who else a policy requires is missing at the gate, and that is said there. */
const AGENT_CLASSES: readonly string[] = [REVIEWER_CLASS, SECURITY_CLASS];

/** Most reviews of one verification: each may use up {@link REVIEW_SESSIONS} workspaces. */
const MOST_REVIEWS = SEATS_A_ROLE / REVIEW_SESSIONS;

/**
 * The reviews of a subject, in the order in which they are asked for: the general one first.
 * @throws `limit` for more than one verification can seat
 */
export function reviewsOf(
  required: readonly { readonly class: string; readonly min: number }[],
): readonly PlannedReview[] {
  const wanted = AGENT_CLASSES.map((name) => ({ name, min: required.find((rule) => rule.class === name)?.min ?? 0 }));
  const total = wanted.reduce((sum, { min }) => sum + min, 0);
  if (total > MOST_REVIEWS) {
    throw portcullisError('limit', {
      reason: `a verification seats ${MOST_REVIEWS} reviewers, and ${total} are required`,
    });
  }
  const reviews = wanted.flatMap(({ name, min }) =>
    Array.from({ length: min }, (_, index): PlannedReview => ({ verifierClass: name, seat: index + 1 })),
  );
  // A ticket routes on a verdict, so there is always somebody who gives one.
  return reviews.length > 0 ? reviews : [GENERAL_REVIEW];
}

export const GENERAL_REVIEW: PlannedReview = { verifierClass: REVIEWER_CLASS, seat: 1 };

/** SENTINEL of a ticket in one seat is one hand, whatever workspace it works in; it descends from nobody, least of all from the producer. */
export function reviewerOf(ticket: string, { verifierClass, seat }: PlannedReview = GENERAL_REVIEW): Principal {
  const hand = verifierClass === REVIEWER_CLASS ? 'sentinel' : `sentinel-${verifierClass}`;
  return { id: `${seat === 1 ? hand : `${hand}-${seat}`}:${ticket}`, lineage: [] };
}

/** The file that it appends. */
export function reviewNameOf(
  { gate, segment }: Pick<SubjectParameters, 'gate' | 'segment'>,
  review: PlannedReview,
): string {
  const isSecurity = review.verifierClass === SECURITY_CLASS;
  switch (gate) {
    case 'plan':
      return isSecurity ? 'plan-security.md' : 'CONTRACT.md';
    case 'segment':
      return segmentReviewName(segment?.n ?? 0, isSecurity ? 'security' : 'eval');
    case 'merge':
      return isSecurity ? 'final-security.md' : 'final-review.md';
  }
}

/** What a reviewer is told to judge by; the digest pins the words. */
export function rulesOf({ verifierClass }: PlannedReview): {
  readonly id: string;
  readonly revision: number;
  readonly text: string;
} {
  return verifierClass === SECURITY_CLASS
    ? { id: 'security-review', revision: 1, text: 'judge what the change lets somebody do who should not be able to' }
    : { id: 'review', revision: 1, text: 'judge what the ticket asks for and what the change causes' };
}

/** Whether its review is also the answer to the contract. */
export function agreesContract({ gate }: Pick<SubjectParameters, 'gate'>, review: PlannedReview): boolean {
  return gate === 'plan' && review.verifierClass === REVIEWER_CLASS && review.seat === 1;
}
