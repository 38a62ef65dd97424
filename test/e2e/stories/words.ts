/** What the stories of directed agents share: reviews, refusals by their code, and stops. */
import type { TicketState } from '../../../schemas/ticket/state.ts';
import { PortcullisError } from '../../../schemas/errors.ts';
import type { HarnessContext } from '../../../schemas/harness-api.ts';
import { pollUntil } from '../../support/poll.ts';
import type { Acting } from '../puppets.ts';
import type { Stack } from '../stage.ts';
import { untilTicket } from '../tickets.ts';

/** A review as a reviewer writes it; `about` makes one text another. */
export function reviewSaying(about: string, block: object): Uint8Array {
  return Buffer.from(`# ${about}\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\`\n`);
}

export const APPROVED = { verdict: 'APPROVED' } as const;
export const REJECTED = { verdict: 'REJECTED', verdict_token: 'RETRY_FORJA', failure_class: 'on-purpose' } as const;

/** The code that a call is refused with; `taken` when it is not. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'taken';
  } catch (thrown) {
    if (thrown instanceof PortcullisError) return thrown.code;
    throw thrown;
  }
}

/** The approval of a reviewer's workspace, once it is asked for its review. */
export async function approvalOf({ run, calls }: Acting): Promise<NonNullable<HarnessContext['approval']>> {
  return await pollUntil(async () => (await calls.context()).approval, {
    what: `the approval of ${run}`,
    deadlineMs: 60_000,
  });
}

/** The ticket once it has stopped for an operator after this revision. */
export async function untilStopped(stack: Stack, id: string, after: number): Promise<TicketState> {
  const { state } = await untilTicket(
    stack,
    id,
    'to stop',
    ({ state: { stop, revision } }) => stop !== null && revision > after,
  );
  return state;
}

/** The operator's decision on what the ticket is at; the revision that it makes. */
export async function decide(
  stack: Stack,
  { ticketId, revision }: TicketState,
  decision: 'retry' | 'resume' | 'abandon',
): Promise<number> {
  const decided = await stack.operator.decideTicket(ticketId, { decision, reason: 'the test goes on', revision });
  return decided.revision;
}
