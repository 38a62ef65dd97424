/** From a reading to what the orchestrator does next, as one table (spec/verdicts.md). */
import type { UnparseableReading, VerdictReading, VerdictRoute, VerdictToken } from '../../schemas/verdict.ts';

/** What each token asks for. */
export const ROUTE_OF_TOKEN = {
  /** Mechanically fixable: the producer goes back with the failure detail. */
  RETRY_FORJA: 'retry_producer',
  /** A decision that no agent can make. */
  NEEDS_HUMAN: 'human',
  /** The cause is outside the repository: recorded, never retried. */
  BLOCKED_UPSTREAM: 'stop',
} as const satisfies Record<VerdictToken, VerdictRoute>;

/** The route of one reading by itself; `afterReview` applies the bounds over several. */
export function routeOf(reading: VerdictReading): VerdictRoute {
  switch (reading.verdict) {
    case 'APPROVED':
      return 'proceed';
    case 'REJECTED':
      return ROUTE_OF_TOKEN[reading.token];
    case 'UNPARSEABLE':
      return 'reask';
  }
}

/** What the reviewer is told when nothing could be read: the reason, and the form that can be. */
export function reaskText(reading: UnparseableReading): string {
  return [
    `Your verdict could not be read (${reading.reason}): ${reading.detail}`,
    'Send your final message again and end it with exactly one fenced json block. To approve:',
    '```json\n{"verdict":"APPROVED"}\n```',
    'To reject, with one of the tokens RETRY_FORJA, NEEDS_HUMAN, BLOCKED_UPSTREAM:',
    '```json\n{"verdict":"REJECTED","verdict_token":"RETRY_FORJA","failure_class":"type-error"}\n```',
  ].join('\n\n');
}
