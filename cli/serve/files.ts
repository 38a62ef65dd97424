/** Where a server part finds its key files, from the settings. */
import { join } from 'node:path';
import type { StoreUser } from '../../activities/store/users.ts';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { awaitStore } from '../../local/store.ts';
import { awaitTemporal } from '../../local/temporal.ts';
import { neededSetting, type CliContext } from '../context.ts';

export function keyFile(context: CliContext, name: string): string {
  return join(neededSetting(context, 'keys.dir'), name);
}

/** How this user of the store connects. @throws `setting_invalid` */
export function storeAccess(context: CliContext, user: StoreUser): { readonly url: string; readonly password: string } {
  return { url: neededSetting(context, 'store.url'), password: storePassword(context, user) };
}

/** How long a part waits for the servers it needs before it gives up; whoever supervises it starts it again. */
const SERVERS_DEADLINE_MS = 50_000;

/** Waits until store and Temporal answer. @throws `store_unavailable`, `store_unsafe`, `temporal_unavailable` */
export async function awaitServers(context: CliContext, user: StoreUser): Promise<void> {
  const { settings, signal } = context;
  const abandoned = () => signal.aborted;
  await Promise.all([
    awaitStore({ ...storeAccess(context, user), user }, SERVERS_DEADLINE_MS, abandoned),
    awaitTemporal(
      neededSetting(context, 'temporal.address'),
      settings.text('temporal.namespace'),
      SERVERS_DEADLINE_MS,
      abandoned,
    ),
  ]);
}

export function storePassword(context: CliContext, user: StoreUser): string {
  return readSecret(keyFile(context, KEY_FILES.storePassword(user)));
}
