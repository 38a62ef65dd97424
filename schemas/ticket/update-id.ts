/** The id of an update: the same request on the same revision has the same one, so a repeat is answered and not done again. */
import { canonicalBytes } from '../canonical.ts';
import { contentDigest, digestHex } from '../digest.ts';
import type { TicketUpdateOutcome } from './state.ts';
import type { TicketUpdateArguments, TicketUpdateName } from './workflow.ts';

/** SHA-256 of the canonical JSON (RFC 8785) of `{"request":…,"update":…}`, 64 hex digits. */
export function ticketUpdateId<U extends TicketUpdateName>(update: U, request: TicketUpdateArguments[U]): string {
  return digestHex(contentDigest(canonicalBytes({ update, request })));
}

/**
 * The id under which the same request is sent once more after an outcome that says nothing about it: Temporal answers an id it
 * knows with its first outcome, whatever came since. The ticket counts both as one request.
 *
 * @param salt another one for each time, letters and digits
 */
export function repeatedUpdateId(id: string, salt: string): string {
  return `${id}.${salt}`;
}

/** The request behind an update's id, however often it was sent. */
export function requestOfUpdateId(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

/** Whether nobody could tell: such an outcome is not remembered, and the same request is looked at again when it is repeated. */
export function isPassingOutcome(outcome: TicketUpdateOutcome): boolean {
  return !outcome.accepted && outcome.refusal.code === 'submission_unavailable';
}
