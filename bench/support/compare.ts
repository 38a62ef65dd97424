/**
 * Times ours beside a peer in the same run, round by round, so that a busy machine slows both alike.
 *
 * @example
 * const digest = await compare({
 *   name: '64 KiB manifest',
 *   ours: { name: 'portcullis', run: () => digestOf('subject', manifest) },
 *   peer: { name: 'canonicalize + node:crypto', run: () => peerDigest(manifest) },
 *   rounds: 200,
 * });
 */
import { summarise, type Summary } from './statistics.ts';
import { progress } from './progress.ts';

/** One contender. What `run` returns is kept out of the engine's sight so that the work cannot be optimised away. */
export interface Side {
  readonly name: string;
  readonly run: () => unknown;
}

export interface Pairing {
  readonly name: string;
  readonly ours: Side;
  readonly peer: Side;
  /** Timed samples of each side. */
  readonly rounds: number;
  /** Calls in one sample; its time is divided by this. Raise it for work under about 50 µs. Default 1. */
  readonly callsPerSample?: number;
  /** Untimed rounds first, so that both sides are compiled. Default a tenth of `rounds`, at least 5. */
  readonly warmUp?: number;
}

export interface Timing {
  readonly name: string;
  /** Milliseconds a call. */
  readonly ms: Summary;
}

export interface Comparison {
  readonly name: string;
  readonly ours: Timing;
  readonly peer: Timing;
  /** Ours divided by peer, round by round: under 1 is faster than the peer. */
  readonly ratio: Summary;
}

/** Times both sides alternately; who goes first changes each round. */
export async function compare(pairing: Pairing): Promise<Comparison> {
  const calls = pairing.callsPerSample ?? 1;
  const warmUp = pairing.warmUp ?? Math.max(5, Math.ceil(pairing.rounds / 10));
  const ours: number[] = [];
  const peer: number[] = [];
  const say = everySecond();
  for (let round = -warmUp; round < pairing.rounds; round += 1) {
    const oursFirst = round % 2 === 0;
    const first = await sample(oursFirst ? pairing.ours : pairing.peer, calls);
    const second = await sample(oursFirst ? pairing.peer : pairing.ours, calls);
    if (round < 0) continue;
    ours.push(oursFirst ? first : second);
    peer.push(oursFirst ? second : first);
    say(`${pairing.name}: round ${round + 1} of ${pairing.rounds}`);
  }
  return {
    name: pairing.name,
    ours: { name: pairing.ours.name, ms: summarise(ours) },
    peer: { name: pairing.peer.name, ms: summarise(peer) },
    ratio: summarise(ours.map((ms, round) => ms / (peer[round] ?? Number.NaN))),
  };
}

/** Times one side alone, where there is no peer to run in this process. */
export async function time(
  side: Side,
  {
    rounds,
    callsPerSample = 1,
    warmUp = Math.max(5, Math.ceil(rounds / 10)),
  }: Pick<Pairing, 'rounds' | 'callsPerSample' | 'warmUp'>,
): Promise<Timing> {
  const samples: number[] = [];
  const say = everySecond();
  for (let round = -warmUp; round < rounds; round += 1) {
    const ms = await sample(side, callsPerSample);
    if (round < 0) continue;
    samples.push(ms);
    say(`${side.name}: round ${round + 1} of ${rounds}`);
  }
  return { name: side.name, ms: summarise(samples) };
}

/** Milliseconds a call over `calls` calls, one after the other. */
async function sample(side: Side, calls: number): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < calls; call += 1) {
    const result = side.run();
    // Only real promises are awaited: awaiting a plain value would add a turn of the event loop to each call.
    SINK.last = result instanceof Promise ? await result : result;
  }
  return (performance.now() - start) / calls;
}

/** Where results go: a store that the engine cannot prove unread. */
const SINK: { last: unknown } = { last: undefined };

function everySecond(): (text: string) => void {
  let next = performance.now() + 1000;
  return (text) => {
    if (performance.now() < next) return;
    next = performance.now() + 1000;
    progress(text);
  };
}
