/** What the local stack leaves open to other users of the same machine. */
import type { LocalState } from '../state.ts';
import { skip, warn, type Check } from './check.ts';

/**
 * @param running the stack's state; `null` when none runs
 * @param external true when the operator names a Temporal of their own
 */
export function checkOpenToLocalUsers(running: LocalState | null, external: boolean): Check {
  const name = 'local users';
  if (external) return skip(name, 'Temporal is one that is named in the settings');
  const where = running === null ? '' : ` (127.0.0.1:${running.ports.temporal} and :${running.ports.temporalUi})`;
  return warn(
    name,
    `on the local stack Temporal and its UI${where} answer any local user of this machine, without a login`,
    'Share no machine with users you do not trust, or name a Temporal of your own: --temporal-address.',
  );
}
