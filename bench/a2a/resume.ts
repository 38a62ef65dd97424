/** A subscriber that lacks 10,000 events gets them over one connection; beside a plain XRANGE of the same stream. */
import type { GatewayClient } from '../../client/gateway-client.ts';
import type { Endpoint } from '../../client/http.ts';
import { keysOf } from '../../schemas/keys.ts';
import { A2A_PATHS } from '../../schemas/verify/a2a.ts';
import { compare, time, type Comparison, type Timing } from '../support/compare.ts';
import type { LoggedTask } from './logged-task.ts';
import { readNumbered, sumOf, type Count } from './stream.ts';

export const RESUMED = 10_000;
const ROUNDS = 10;

export interface ResumeMeasured {
  readonly comparison: Comparison;
  /** The same by GetTask with afterSeq, 500 events a page. */
  readonly paged: Timing;
  readonly count: Count;
}

export async function measureResume(
  task: LoggedTask,
  endpoint: Endpoint,
  reader: GatewayClient,
): Promise<ResumeMeasured> {
  await task.append(RESUMED - task.seq());
  const counts: Count[] = [];
  const events = keysOf('local').taskEvents(task.id);
  const comparison = await compare({
    name: `resume of ${RESUMED} events`,
    ours: {
      name: 'subscribe behind event 0',
      run: async () => {
        const path = `${A2A_PATHS.rest}/tasks/${task.id}:subscribe`;
        counts.push(await readNumbered({ endpoint, path, after: 0, until: RESUMED }));
      },
    },
    peer: {
      name: 'plain XRANGE, each event parsed',
      run: async () => {
        const entries = await task.connection.run((redis) => redis.xrange(events, '-', '+'));
        return entries.map(([, fields]): unknown => JSON.parse(fields[3] ?? 'null'));
      },
    },
    rounds: ROUNDS,
    warmUp: 2,
  });
  const pages = async () => {
    let seen = 0;
    while (seen < RESUMED) {
      const { metadata } = await reader.getTask(task.id, seen);
      const last = metadata.events?.at(-1);
      if (last === undefined) throw new Error(`GetTask answered nothing after ${seen}`);
      seen = last.seq;
    }
  };
  const paged = await time({ name: `GetTask with afterSeq, ${RESUMED} events`, run: pages }, { rounds: 5, warmUp: 1 });
  return { comparison, paged, count: sumOf(counts) };
}
