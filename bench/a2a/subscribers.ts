/** 1,000 subscribers that come at once, each behind a position of its own, while events go on; beside a bare SSE server. */
import type { Endpoint } from '../../client/http.ts';
import { A2A_PATHS } from '../../schemas/verify/a2a.ts';
import { compare, type Comparison } from '../support/compare.ts';
import { summarise } from '../support/statistics.ts';
import type { Timing } from '../support/compare.ts';
import type { LoggedTask } from './logged-task.ts';
import type { SsePeer } from './sse-peer.ts';
import { readNumbered, sumOf, type Count } from './stream.ts';

export const SUBSCRIBERS = 1_000;
/** They lack 0 to 99 of these, one position each. */
const BEHIND = 100;
/** Events that come while they resume. */
const LIVE = 20;
const ROUNDS = 4;

export interface SubscribersMeasured {
  readonly comparison: Comparison;
  /** From the append of an event, when all stand, to each of the subscribers. */
  readonly delivery: Timing;
  readonly count: Count;
  readonly peerCount: Count;
}

interface Source {
  seq(): number;
  append(count: number): Promise<number>;
}

/** @param endpoints one for each credential: each may make so many calls at once and no more */
export async function measureSubscribers(
  task: LoggedTask,
  endpoints: readonly Endpoint[],
  peer: SsePeer,
): Promise<SubscribersMeasured> {
  await peer.append(BEHIND);
  const path = `${A2A_PATHS.rest}/tasks/${task.id}:subscribe`;
  const [counts, peerCounts]: [Count[], Count[]] = [[], []];
  const comparison = await compare({
    name: `${SUBSCRIBERS} subscribers at once, up to ${BEHIND} events behind, ${LIVE} more under way`,
    ours: { name: 'the last of them has everything', run: () => resumeAll(task, endpoints, path, counts) },
    peer: { name: 'bare SSE server, list in memory', run: () => resumeAll(peer, [{ url: peer.url }], '/', peerCounts) },
    rounds: ROUNDS,
    warmUp: 1,
  });
  const latencies: number[] = [];
  for (let n = 0; n < 3; n += 1) latencies.push(...(await deliver(task, endpoints, path, counts)));
  return {
    comparison,
    delivery: { name: `append of an event to each of ${SUBSCRIBERS} subscribers`, ms: summarise(latencies) },
    count: sumOf(counts),
    peerCount: sumOf(peerCounts),
  };
}

async function resumeAll(source: Source, endpoints: readonly Endpoint[], path: string, counts: Count[]): Promise<void> {
  const now = source.seq();
  const all = everySubscriber(endpoints, (endpoint, index) =>
    readNumbered({ endpoint, path, after: now - (index % BEHIND), until: now + LIVE }),
  );
  await source.append(LIVE);
  counts.push(...(await all));
}

/** Milliseconds until each had the event that was appended once all of them stood. */
async function deliver(
  source: Source,
  endpoints: readonly Endpoint[],
  path: string,
  counts: Count[],
): Promise<readonly number[]> {
  const now = source.seq();
  const standing = Promise.withResolvers<undefined>();
  let stand = 0;
  let at = 0;
  const latencies: number[] = [];
  const onEvent = (seq: number) => {
    if (seq === now && (stand += 1) === SUBSCRIBERS) standing.resolve(undefined);
    if (seq === now + 1) latencies.push(performance.now() - at);
  };
  const all = everySubscriber(endpoints, (endpoint) =>
    readNumbered({ endpoint, path, after: now - 1, until: now + 1, onEvent }),
  );
  await Promise.race([standing.promise, all]);
  at = performance.now();
  await source.append(1);
  counts.push(...(await all));
  return latencies;
}

async function everySubscriber(
  endpoints: readonly Endpoint[],
  read: (endpoint: Endpoint, index: number) => Promise<Count>,
): Promise<readonly Count[]> {
  return Promise.all(
    Array.from({ length: SUBSCRIBERS }, (_, index) => {
      const endpoint = endpoints[index % endpoints.length];
      if (endpoint === undefined) throw new Error('no endpoint to subscribe at');
      return read(endpoint, index);
    }),
  );
}
