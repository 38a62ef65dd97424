/**
 * How fast requests are admitted, many at once, each one claimed in the store (fsynced) and started on Temporal before it is
 * answered; beside bare workflow starts on the same server, which claim nothing.
 */
import type { Client } from '@temporalio/client';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { askFor } from '../../test/e2e/stage.ts';
import { type Comparison } from '../support/compare.ts';
import { progress } from '../support/progress.ts';
import { summarise } from '../support/statistics.ts';

const AT_ONCE = 16;
const IN_A_ROUND = 96;
const ROUNDS = 4;

export interface AdmissionMeasured {
  readonly comparison: Comparison;
  /** Requests answered in a second, of ours and of the peer's starts. */
  readonly perSecond: number;
  readonly peerPerSecond: number;
}

export async function measureAdmission(
  reviewer: GatewayClient,
  pair: string,
  temporal: Client,
): Promise<AdmissionMeasured> {
  let serial = 0;
  const admit = async () => {
    const task = await reviewer.sendVerify(askFor(pair, { argv: ['make', 'test'], attempt: (serial += 1) }));
    if (task.state === 'rejected') throw new Error(`not admitted: ${task.detail}`);
  };
  const start = async () => {
    await temporal.workflow.start('bare', {
      taskQueue: 'bench-here',
      workflowId: `bench-start-${(serial += 1)}`,
      args: ['bench-elsewhere'],
    });
  };
  await burst(admit, AT_ONCE);
  await burst(start, AT_ONCE);
  const [ours, peer]: [Burst[], Burst[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const oursFirst = round % 2 === 0;
    if (oursFirst) ours.push(await burst(admit, IN_A_ROUND));
    peer.push(await burst(start, IN_A_ROUND));
    if (!oursFirst) ours.push(await burst(admit, IN_A_ROUND));
    progress(`admission: round ${round + 1} of ${ROUNDS}`);
  }
  return {
    comparison: {
      name: `admission, ${AT_ONCE} at once`,
      ours: { name: 'SendMessage to its answer', ms: summarise(ours.flatMap(({ latencies }) => latencies)) },
      peer: { name: 'bare workflow start', ms: summarise(peer.flatMap(({ latencies }) => latencies)) },
      ratio: summarise(ours.map(({ ms }, round) => ms / (peer[round]?.ms ?? Number.NaN))),
    },
    perSecond: rateOf(ours),
    peerPerSecond: rateOf(peer),
  };
}

interface Burst {
  readonly ms: number;
  readonly latencies: readonly number[];
}

async function burst(call: () => Promise<void>, count: number): Promise<Burst> {
  const latencies: number[] = [];
  let left = count;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      const from = performance.now();
      await call();
      latencies.push(performance.now() - from);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return { ms: performance.now() - from, latencies };
}

function rateOf(bursts: readonly Burst[]): number {
  const calls = bursts.reduce((sum, { latencies }) => sum + latencies.length, 0);
  return (calls * 1000) / bursts.reduce((sum, { ms }) => sum + ms, 0);
}
