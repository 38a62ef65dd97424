/** `setKillSwitch`: writes the switch with its reason, and cancels what runs when told to. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { KillSwitch } from '../../schemas/pair.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { SetKillSwitchInput, SetKillSwitchResult } from '../../schemas/verify/workflow.ts';
import { PAIR_OPTIONS } from './options.ts';

const { writeKillSwitch, cancelRunning } = proxyActivities<PairActivities>(PAIR_OPTIONS);

/** Visibility lags about a second: a run that was admitted just before the switch is listed by the second look. */
const VISIBILITY_LAG = '3s';

export async function setKillSwitch(input: SetKillSwitchInput): Promise<SetKillSwitchResult> {
  const { tenant, scope, on, reason, by } = input;
  const value: KillSwitch = { schema: 'portcullis/kill-switch/v1', on, reason, by, at: Date.now() };
  await writeKillSwitch({ scope: scope === 'installation' ? null : tenant, tenant, value });
  if (!on || !input.cancelRunning) return { value, cancelled: 0 };
  const first = await cancelRunning(tenant);
  await sleep(VISIBILITY_LAG);
  return { value, cancelled: first + (await cancelRunning(tenant)) };
}
