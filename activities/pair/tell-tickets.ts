/** Tells open tickets that the kill switch is on. Which are open says the store's own list: visibility lags, and forgets. */
import type { TicketsToTell, ToldTickets } from '../../schemas/pair-activities.ts';
import type { KillSwitchNotice } from '../../schemas/ticket/workflow.ts';

export interface TellDependencies {
  /** Every tenant of this control worker. */
  readonly tenants: readonly string[];
  /** Ids of the tickets that have not ended. */
  readonly openTickets: (tenant: string) => Promise<readonly string[]>;
  /** `false` when there is no such workflow any more. */
  readonly tellTicket: (of: OpenTicket, notice: KillSwitchNotice) => Promise<boolean>;
  /** Takes one off the list that ended without a last word. */
  readonly forgetTicket: (of: OpenTicket) => Promise<void>;
}

export interface OpenTicket {
  readonly tenant: string;
  readonly ticket: string;
}

/** Tickets of one page, and how many are told at once: a page ends well within its time. */
const PAGE = 200;
const AT_ONCE = 10;

/** @throws `store_unavailable`; whatever Temporal fails with, and then the page is told again */
export async function tellTickets(
  needs: TellDependencies,
  { scope, reason, by, after }: TicketsToTell,
): Promise<ToldTickets> {
  const open = await openAfter(needs, scope === null ? needs.tenants.toSorted() : [scope], after);
  const page = open.slice(0, PAGE);
  let told = 0;
  for (let at = 0; at < page.length; at += AT_ONCE) {
    const answers = await Promise.all(page.slice(at, at + AT_ONCE).map((of) => tell(needs, of, { reason, by })));
    told += answers.filter((heard) => heard).length;
  }
  const last = page.at(-1);
  return { told, next: last === undefined || open.length <= PAGE ? null : placeOf(last) };
}

async function tell(needs: TellDependencies, of: OpenTicket, notice: KillSwitchNotice): Promise<boolean> {
  const heard = await needs.tellTicket(of, notice);
  if (!heard) await needs.forgetTicket(of);
  return heard;
}

async function openAfter(
  { openTickets }: TellDependencies,
  tenants: readonly string[],
  after: string | null,
): Promise<readonly OpenTicket[]> {
  const open: OpenTicket[] = [];
  for (const tenant of tenants) {
    for (const ticket of await openTickets(tenant)) open.push({ tenant, ticket });
  }
  return after === null ? open : open.filter((of) => isAfter(of, after));
}

const placeOf = ({ tenant, ticket }: OpenTicket): string => `${tenant}/${ticket}`;

/** By tenant, then by ticket: a list that changed between two pages moves nobody who was not told before the place. */
function isAfter({ tenant, ticket }: OpenTicket, place: string): boolean {
  const [otherTenant = '', otherTicket = ''] = place.split('/');
  return tenant === otherTenant ? ticket > otherTicket : tenant > otherTenant;
}
