/** `setKillSwitch`: writes the switch with its reason, tells the open tickets, and cancels what runs when told to. */
import { patched, proxyActivities, sleep } from '@temporalio/workflow';
import type { KillSwitch } from '../../schemas/pair.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { SetKillSwitchInput, SetKillSwitchResult } from '../../schemas/verify/workflow.ts';
import { PAIR_OPTIONS } from './options.ts';

const { writeKillSwitch, cancelRunning, tellTickets } = proxyActivities<PairActivities>(PAIR_OPTIONS);

/** Visibility lags about a second: a run that was admitted just before the switch is listed by the second look. */
const VISIBILITY_LAG = '3s';

/** Histories from before it replay without it. */
const TELLS_TICKETS = 'tells-tickets';

export async function setKillSwitch(input: SetKillSwitchInput): Promise<SetKillSwitchResult> {
  const { tenant, scope, on, reason, by } = input;
  const value: KillSwitch = { schema: 'portcullis/kill-switch/v1', on, reason, by, at: Date.now() };
  const written = scope === 'installation' ? null : tenant;
  await writeKillSwitch({ scope: written, tenant, value });
  // A ticket that begins now reads the switch: it lists itself as open first, so that it is told here or sees it there.
  const tickets = on && patched(TELLS_TICKETS) ? await tellAll(input, written) : 0;
  if (!on || !input.cancelRunning) return { value, cancelled: 0, tickets };
  const first = await cancelRunning(tenant);
  await sleep(VISIBILITY_LAG);
  return { value, cancelled: first + (await cancelRunning(tenant)), tickets };
}

/** Page after page, so that a worker that dies goes on where it was. */
async function tellAll({ reason, by }: SetKillSwitchInput, scope: string | null): Promise<number> {
  let told = 0;
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof tellTickets>> = await tellTickets({ scope, reason, by, after });
    told += page.told;
    after = page.next;
  } while (after !== null);
  return told;
}
