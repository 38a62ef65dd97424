/** From what a verification came to, to the event of the ticket. */
import type { CandidateTestStatus, TicketEvent } from '../../schemas/ticket/event.ts';
import type { VerificationOutcome } from '../../schemas/verification/workflow.ts';

interface Evaluated {
  readonly revision: number;
  readonly at: number;
  readonly n: number;
  readonly subjectDigest: string;
}

const ACTOR = 'verification';

/** After a review of a plan, a segment or a candidate. */
export function eventOfReview(
  { revision, at, n, subjectDigest }: Evaluated,
  outcome: VerificationOutcome,
): TicketEvent {
  const decided = { revision, at, actor: ACTOR };
  switch (outcome.outcome) {
    case 'missing_artifact':
      return { ...decided, type: 'artifactMissing', path: outcome.path };
    case 'unavailable':
      return { ...decided, type: 'verificationUnavailable', n, reason: outcome.reason };
    case 'checked': {
      // What is on record decides, so it is the gate's to say and no model was asked; otherwise there is no answer at all.
      const failureClass = settledBy(outcome);
      if (failureClass === null) {
        return { ...decided, type: 'verificationUnavailable', n, reason: 'executor_unavailable' };
      }
      const { refs } = outcome;
      return { ...decided, type: 'reviewed', n, subjectDigest, route: 'retry_producer', failureClass, refs };
    }
    case 'reviewed': {
      const { route, failureClass, refs, unreadable = false, blocking = [] } = outcome;
      return { ...decided, type: 'reviewed', n, subjectDigest, route, failureClass, refs, unreadable, blocking };
    }
  }
}

/** What decides without a reviewer: a failed check, or evidence that is not as it was recorded; `null` for neither. */
function settledBy(outcome: Extract<VerificationOutcome, { readonly outcome: 'checked' }>): string | null {
  if (testStatusOf(outcome) === 'failed') return 'check-failed';
  if (outcome.settled !== true) return null;
  return outcome.hits?.[0]?.code.replaceAll('_', '-') ?? 'record-unreadable';
}

/** After the checks of a candidate. */
export function eventOfTest({ revision, at }: Evaluated, candidate: string, outcome: VerificationOutcome): TicketEvent {
  const decided = { revision, at, actor: ACTOR };
  if (outcome.outcome === 'missing_artifact') return { ...decided, type: 'artifactMissing', path: outcome.path };
  const status = outcome.outcome === 'checked' ? testStatusOf(outcome) : 'unanswered';
  const detail =
    outcome.outcome === 'unavailable'
      ? outcome.reason
      : outcome.checks
          .filter((check) => check.status !== 'satisfied')
          .map((check) => `${check.check} ${check.status}`)
          .join(', ');
  return { ...decided, type: 'candidateTested', candidate, status, detail: detail || status, refs: outcome.refs };
}

/** The worst of the checks; none at all is `not_tested`. */
function testStatusOf({ checks }: Pick<VerificationOutcome, 'checks'>): CandidateTestStatus {
  const worst = (['failed', 'unanswered', 'not_tested'] as const).find((status) =>
    checks.some((check) => check.status === status),
  );
  return worst ?? (checks.length === 0 ? 'not_tested' : 'satisfied');
}
