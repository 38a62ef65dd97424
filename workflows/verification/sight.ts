/** What an operator sees of a verification in the stock Temporal UI, before each wait (invariant 16). */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { VerificationInput } from '../../schemas/verification/workflow.ts';

export type VerificationPhase = 'admit' | 'checks' | 'review' | 'record' | 'ended';

/** `waitingOn` is a short stable word, `nothing` at the end. */
export type Show = (phase: VerificationPhase, waitingOn: string, detail: string) => void;

export function verificationSight({ parameters, subjectDigest, scope, n }: VerificationInput): Show {
  let shown = '';
  return (phase, waitingOn, detail) => {
    const key = `${phase}|${waitingOn}|${detail}`;
    if (key === shown) return;
    shown = key;
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.tenant, value: parameters.tenant },
      { key: SEARCH_ATTRIBUTES.ticketId, value: parameters.ticket },
      { key: SEARCH_ATTRIBUTES.pairId, value: parameters.ticket },
      { key: SEARCH_ATTRIBUTES.subjectDigest, value: subjectDigest.slice('sha256:'.length) },
      { key: SEARCH_ATTRIBUTES.phase, value: phase },
      { key: SEARCH_ATTRIBUTES.waitingOn, value: waitingOn },
      { key: SEARCH_ATTRIBUTES.state, value: phase === 'ended' ? 'closed' : 'open' },
    ]);
    setCurrentDetails(
      [
        `**${parameters.ticket}: ${parameters.gate}, evaluation ${n} (${scope})**`,
        `Commit \`${parameters.change.head}\` against \`${parameters.change.base}\`, execution ${parameters.execution.id}`,
        `${phase}: ${detail}`,
        `Waiting on: ${waitingOn}`,
      ].join('\n\n'),
    );
  };
}
