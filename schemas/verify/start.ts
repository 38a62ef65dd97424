/** How a verify looks from its first moment in the Temporal UI, whoever starts it. */
import { TypedSearchAttributes } from '@temporalio/common';
import { digestHex } from '../digest.ts';
import { SEARCH_ATTRIBUTES } from '../search-attributes.ts';
import type { AcceptedRequest } from './request.ts';

export interface VerifyStartSight {
  readonly staticSummary: string;
  readonly staticDetails: string;
  /** By its `taskId` the reconciler finds a run whose workflow was terminated. */
  readonly memo: Record<string, unknown>;
  readonly searchAttributes: TypedSearchAttributes;
}

export function verifyStartSight({
  request,
  requestDigest,
  taskId,
  workspaceGeneration,
}: AcceptedRequest): VerifyStartSight {
  const command = request.argv.join(' ');
  return {
    staticSummary: `${request.pair}: ${command}`.slice(0, 200),
    staticDetails: [
      `Task \`${taskId}\``,
      `Commit \`${request.subject.headSha}\`, execution ${request.subject.execution}, generation ${request.subject.generation}`,
      `Executor ${request.executor}, workspace generation ${workspaceGeneration}`,
      `Command \`${command.slice(0, 500)}\`, at most ${request.timeoutSecs} s`,
    ].join('\n\n'),
    memo: { taskId, pair: request.pair, attempt: request.attempt },
    searchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.tenant, value: request.tenant },
      { key: SEARCH_ATTRIBUTES.pairId, value: request.pair },
      { key: SEARCH_ATTRIBUTES.ticketId, value: request.pair },
      { key: SEARCH_ATTRIBUTES.role, value: request.executor },
      { key: SEARCH_ATTRIBUTES.subjectDigest, value: digestHex(requestDigest) },
      { key: SEARCH_ATTRIBUTES.state, value: 'open' },
      { key: SEARCH_ATTRIBUTES.phase, value: 'accepted' },
      { key: SEARCH_ATTRIBUTES.waitingOn, value: 'control' },
    ]),
  };
}
