/** A whole stack of its own with what the bench reads beside the gateway: Temporal's histories, the store's records. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@temporalio/client';
import { connectStore } from '../../activities/store/connect.ts';
import { lifecycleReader } from '../../activities/store/lifecycle.ts';
import type { LifecycleReader } from '../../activities/store/lifecycle-port.ts';
import { submitTicket } from '../../cli/ticket/start.ts';
import { exampleRemote } from '../../local/example-ticket.ts';
import { storePasswords } from '../../local/keys.ts';
import { localStoreUrl } from '../../local/store.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import { startStack, type Stack } from '../../test/e2e/stage.ts';
import { pollUntil } from '../../test/support/poll.ts';

export const TENANT = 'local';

export interface BenchStack {
  readonly stack: Stack;
  readonly temporal: Client;
  readonly lifecycle: LifecycleReader;
  /** Bytes that the store holds. */
  storeBytes(): Promise<number>;
  close(): Promise<void>;
}

export async function openBenchStack(): Promise<BenchStack> {
  const stack = await startStack();
  try {
    const url = localStoreUrl(stack.state().ports.store);
    const { reader, admin } = storePasswords(stack.paths.keys);
    const [temporal, store, server] = await Promise.all([
      stack.temporal(),
      connectStore({ url, user: 'reader', password: reader }),
      connectStore({ url, user: 'admin', password: admin }),
    ]);
    return {
      stack,
      temporal: temporal.client,
      lifecycle: lifecycleReader(store),
      async storeBytes() {
        const said = await server.run((redis) => redis.info('memory'));
        return Number(/^used_memory:(\d+)/m.exec(said)?.[1] ?? 0);
      },
      async close() {
        await Promise.all([temporal.close(), store.close(), server.close()]);
        await stack.close();
      },
    };
  } catch (thrown) {
    await stack.close();
    throw thrown;
  }
}

/** A bare remote of the repository, as `file:` URL. */
export async function remoteFor({ paths }: Stack, repository: string, name: string): Promise<string> {
  return pathToFileURL(await exampleRemote(join(paths.root, 'remotes'), name, repository)).href;
}

const ENDS: readonly TicketPhase[] = ['done', 'abandoned', 'blocked', 'awaiting_human'];
const LOOK_MS = 100;

/** Starts it and waits until it has ended, or needs a person. @throws when it has not within `deadlineMs` */
export async function runTicket(
  { operator }: Stack,
  definition: TicketDefinition,
  deadlineMs: number,
): Promise<{ readonly record: TicketRecord; readonly ms: number }> {
  const began = performance.now();
  await submitTicket(operator, definition);
  const record = await pollUntil(
    async () => {
      // Just started, it is not projected yet.
      const now = await operator.getTicket(definition.id).then(
        ({ ticket }) => ticket,
        () => null,
      );
      return now !== null && ENDS.includes(now.state.phase) && now;
    },
    { what: `${definition.id} to end`, deadlineMs, everyMs: LOOK_MS },
  );
  return { record, ms: performance.now() - began };
}

/** Waits until no workspace of the tenant is left; those that are. */
export async function workspacesLeft({ lifecycle }: BenchStack, deadlineMs: number): Promise<readonly string[]> {
  const open = async () => (await lifecycle.listOpenWorkspaces(TENANT)).map(({ id, state }) => `${id} (${state})`);
  await pollUntil(async () => (await open()).length === 0, {
    what: 'every workspace to be gone',
    deadlineMs,
    everyMs: 250,
  }).catch(() => {});
  return await open();
}
