/**
 * From a request to its persisted result, beside a bare Temporal workflow of two no-op activities (one of them on another
 * worker) on the same server in the same run. Each step takes one part away: the sandbox, then the door.
 */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { connectStore } from '../activities/store/connect.ts';
import { gatewayStore } from '../activities/store/gateway.ts';
import type { GatewayClient } from '../client/gateway-client.ts';
import { storePasswords } from '../local/keys.ts';
import { readState } from '../local/state.ts';
import { localStoreUrl } from '../local/store.ts';
import type { Seat } from '../schemas/queues.ts';
import { askFor, makeRepository, seat, startStack, type Stack } from '../test/e2e/stage.ts';
import { pollUntil } from '../test/support/poll.ts';
import { compare, type Comparison } from './support/compare.ts';
import type { Bench, BenchReport } from './support/report.ts';
import { startNoOpExecutor } from './verify/no-op-executor.ts';
import { startPeer, type Peer } from './verify/peer.ts';
import { quietRuntime } from './support/quiet-runtime.ts';

const ROUNDS = 30;
/** Goal of the whole path (spec of delegated verification, section 6). */
const GOAL = 1.5;

export const verifyBench: Bench = {
  name: 'verify',
  about: 'request to persisted result, beside a bare workflow of two no-op activities',
  run,
};

async function run(): Promise<BenchReport> {
  quietRuntime();
  const stack = await startStack();
  const address = `127.0.0.1:${readState(stack.paths)?.ports.temporal ?? 0}`;
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const peer = await startPeer(native, new Client({ connection }));
  try {
    const comparisons = [
      await withNoOps(stack, peer, address, false),
      await withNoOps(stack, peer, address, true),
      await withSandbox(stack, peer),
    ];
    const whole = comparisons[2]?.ratio.median ?? Number.NaN;
    return {
      comparisons,
      timings: [],
      goals: [
        {
          goal: `request to persisted, with door and sandbox, at most ${GOAL} times the bare workflow`,
          measured: `${whole.toFixed(2)} times`,
          met: whole <= GOAL,
        },
      ],
      facts: { 'command in the sandbox': 'make test, of a Makefile that does nothing' },
    };
  } finally {
    await peer.close();
    await Promise.all([native.close(), connection.close()]);
    await stack.close();
  }
}

/** The whole of it: door, export of the commit, sandbox, output, persisted result. */
async function withSandbox(stack: Stack, peer: Peer): Promise<Comparison> {
  const at = await seat(stack, makeRepository(stack, 'sandbox', { Makefile: 'test:\n\t@true\n' }));
  try {
    return await sideBySide('with door, with sandbox', at.reviewer, at.opened.pair, peer);
  } finally {
    await at.leave();
  }
}

/** Without a sandbox: an executor that answers at once, through the door or straight from Temporal. */
async function withNoOps(stack: Stack, peer: Peer, temporalAddress: string, door: boolean): Promise<Comparison> {
  const name = door ? 'with door, without sandbox' : 'without door, without sandbox';
  const repository = makeRepository(stack, door ? 'door' : 'no-door', { Makefile: 'test:\n\t@true\n' });
  const at = await seat(stack, repository, false);
  const { pair, workspace, codes } = at.opened;
  const seated: Seat = { tenant: 'local', pair, role: 'verifier', workspaceGeneration: workspace.generation };
  const { bearer } = await stack.operator.exchangeClaim({ tenant: 'local', code: codes.executor });
  const doorAddress = `127.0.0.1:${readState(stack.paths)?.ports.gateway ?? 0}`;
  const executor = await startNoOpExecutor(door ? doorAddress : temporalAddress, door ? bearer : null, seated);
  const presence = door ? null : await holdPresence(stack, seated);
  try {
    await pollUntil(async () => (await stack.operator.pair(pair)).presence.verifier === 'idle', {
      what: 'the executor',
    });
    return await sideBySide(name, at.reviewer, pair, peer);
  } finally {
    await presence?.close();
    await executor.close();
    await at.leave();
  }
}

/** Presence is the door's word; an executor beside the door has to be vouched for, or nothing is dispatched to it. */
async function holdPresence(stack: Stack, seated: Seat): Promise<{ close(): Promise<void> }> {
  const url = localStoreUrl(readState(stack.paths)?.ports.store ?? 0);
  const connection = await connectStore({ url, user: 'gateway', password: storePasswords(stack.paths.keys).gateway });
  const store = gatewayStore(connection);
  const hold = () => store.holdPresence(seated, 'idle', 'bench');
  await hold();
  const timer = setInterval(() => void hold(), 1_000);
  return {
    async close() {
      clearInterval(timer);
      await connection.close();
    },
  };
}

async function sideBySide(name: string, reviewer: GatewayClient, pair: string, peer: Peer): Promise<Comparison> {
  let attempt = 0;
  return await compare({
    name,
    ours: {
      name: 'portcullis',
      run: async () => {
        attempt += 1;
        const task = await reviewer.sendVerify(askFor(pair, { argv: ['make', 'test'], attempt }), { wait: true });
        if (task.state !== 'completed') throw new Error(`the run ended as ${task.state}: ${task.detail}`);
      },
    },
    peer: { name: 'bare workflow', run: () => peer.run() },
    rounds: ROUNDS,
  });
}
