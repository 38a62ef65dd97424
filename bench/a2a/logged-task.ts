/** A task whose log a benchmark writes itself: admitted and confirmed, so that nothing starts or ends it meanwhile. */
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import { storePasswords } from '../../local/keys.ts';
import { readState } from '../../local/state.ts';
import { localStoreUrl } from '../../local/store.ts';
import type { Stack } from '../../test/e2e/stage.ts';
import { admitted } from '../../test/support/task-fixtures.ts';

export interface LoggedTask {
  readonly id: string;
  readonly connection: StoreConnection;
  /** Number of the last event. */
  seq(): number;
  /** Appends so many output events, one round trip each but many under way; the number of the last. */
  append(count: number): Promise<number>;
  close(): Promise<void>;
}

const AT_ONCE = 200;

export async function openLoggedTask(stack: Stack, pair: string): Promise<LoggedTask> {
  const url = localStoreUrl(readState(stack.paths)?.ports.store ?? 0);
  const { gateway: password } = storePasswords(stack.paths.keys);
  const connection = await connectStore({ url, user: 'gateway', password, commandTimeoutMs: 10_000 });
  const store = gatewayStore(connection);
  const { accepted } = await admitted(store, { tenant: 'local', pair, executor: 'verifier' });
  await store.confirmStarted(accepted);
  const id = accepted.taskId;
  let seq = (await store.readTask('local', id))?.seq ?? 0;
  let offset = 0;
  const one = (): Promise<number | null> => {
    const event = { type: 'output', stream: 'stdout', chunk: offset, bytes: 64 } as const;
    return store.appendEvent('local', id, { source: 'stdout', offset: offset++ }, event);
  };
  return {
    id,
    connection,
    seq: () => seq,
    async append(count) {
      for (let left = count; left > 0; left -= AT_ONCE) {
        const numbers = await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, one));
        seq = Math.max(seq, ...numbers.map((number) => number ?? 0));
      }
      return seq;
    },
    close: () => connection.close(),
  };
}
