/** The id of an update: the same request on the same revision has the same one, so a repeat is answered and not done again. */
import { canonicalBytes } from '../canonical.ts';
import { contentDigest, digestHex } from '../digest.ts';
import type { TicketUpdateArguments, TicketUpdateName } from './workflow.ts';

/** SHA-256 of the canonical JSON (RFC 8785) of `{"request":…,"update":…}`, 64 hex digits. */
export function ticketUpdateId<U extends TicketUpdateName>(update: U, request: TicketUpdateArguments[U]): string {
  return digestHex(contentDigest(canonicalBytes({ update, request })));
}
