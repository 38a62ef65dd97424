/** The activities of a verification, bound to what they need. */
import { Context } from '@temporalio/activity';
import type { VerificationActivities } from '../../schemas/verification/activities.ts';
import type { DocumentationActivities } from '../../schemas/ticket/activities.ts';
import { admitCheck, awaitTask } from './admit.ts';
import { observeBuiltin } from './builtins.ts';
import type { VerificationDependencies } from './dependencies.ts';
import { recordDocumentation } from './documentation.ts';
import { concludeReview, openReview, planReviews, readReview } from './review.ts';
import { endApproval } from './review-audit.ts';
import { planChecks, recordSubject, requireArtifacts } from './subject.ts';

export function verificationActivities(
  needs: VerificationDependencies,
): VerificationActivities & DocumentationActivities {
  return {
    recordSubject: (parameters) => recordSubject(needs, parameters),
    recordDocumentation: (subject) => recordDocumentation(needs, subject),
    requireArtifacts: (parameters) => requireArtifacts(needs, parameters),
    planChecks: (request) => planChecks(needs, request),
    observeBuiltin: (request) => observeBuiltin(needs, request),
    admitCheck: (admission) => admitCheck(needs, admission),
    awaitTask: (of) => {
      const { heartbeat, cancellationSignal } = Context.current();
      return awaitTask(needs, of, { alive: () => heartbeat(), cancellation: cancellationSignal });
    },
    planReviews: (request) => planReviews(needs, request),
    openReview: (opening) => openReview(needs, opening),
    readReview: (request) => readReview(needs, request),
    concludeReview: (conclusion) => concludeReview(needs, conclusion),
    abandonReview: (of) => endApproval(needs, of),
  };
}
