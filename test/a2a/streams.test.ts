/** Streams that lose nothing: numbers, snapshots, resumption, other replicas, restarts, slow readers, revocation. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import { VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';
import type { GatewayStore } from '../../activities/store/port.ts';
import { STREAM_SETTINGS } from '../../gateway/a2a/sse.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { gate, type Gate } from './gate.ts';
import {
  BINDINGS,
  field,
  frames,
  message,
  operations,
  PROTOCOL,
  request,
  seqOf,
  type Binding,
  type Frame,
} from './wire.ts';
import { ask, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld('a2a-streams');
});
afterAll(() => world.close());

interface Run {
  readonly id: string;
  readonly bearer: string;
  readonly gate: Gate;
  /** Appends one event of output. */
  output(): Promise<void>;
  headers(more?: Readonly<Record<string, string>>): Record<string, string>;
}

/** A run that goes on until its gate is opened. */
async function running(pair: string): Promise<Run> {
  const held = gate();
  const bearer = await world.pair(pair, async () => {
    await held.pass();
    return executorReport();
  });
  const client = world.client(bearer);
  const { id } = await client.sendVerify(ask(pair));
  await pollUntil(async () => (await client.getTask(id)).metadata.phase === 'running', { what: 'the run to begin' });
  const source = outputOf(world.store, world.tenant, id);
  return {
    id,
    bearer,
    gate: held,
    output: source,
    headers: (more = {}) => ({ ...PROTOCOL, authorization: `Bearer ${bearer}`, ...more }),
  };
}

function outputOf(store: GatewayStore, tenant: string, task: string): () => Promise<void> {
  let offset = 0;
  return async () => {
    await store.appendEvent(
      tenant,
      task,
      { source: 'stdout', offset },
      { type: 'output', stream: 'stdout', chunk: offset, bytes: 3 },
    );
    offset += 1;
  };
}

const subscription = (id: string, method: 'GET' | 'POST' = 'GET') => {
  const name = method === 'GET' ? 'SubscribeToTask' : 'SubscribeToTask by POST';
  const found = operations(id, ask('x')).find((one) => one.name === name);
  if (found === undefined) throw new Error('no subscription');
  return found;
};

async function subscribe(run: Run, binding: Binding, headers: Readonly<Record<string, string>> = {}, url = world.url) {
  return request(url, binding, subscription(run.id), run.headers(headers));
}

const numbersOf = (list: readonly Frame[]) =>
  list.flatMap(({ event }) => (field(event, 'task') === undefined ? [seqOf(event)] : [])).filter((seq) => seq !== null);

/** Reads to the end, which a cut is not. */
async function readOut(response: Response): Promise<void> {
  const all = frames(response);
  while ((await all.next()).done !== true);
}

async function logOf(run: Run): Promise<readonly number[]> {
  const { metadata } = await world.client(run.bearer).getTask(run.id, 0);
  return (metadata.events ?? []).map(({ seq }) => seq);
}

describe.each(BINDINGS)('on %s', (binding) => {
  const pairOf = (name: string) => `${name}-${binding === 'JSONRPC' ? 'rpc' : 'http'}`;

  test('a subscription shows the snapshot with its number, then each event once, and ends with the task', async () => {
    const run = await running(pairOf('whole'));
    await run.output();
    const response = await subscribe(run, binding);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('a2a-extensions')).toBe(VERIFY_EXTENSION);
    const seen: Frame[] = [];
    for await (const frame of frames(response)) {
      seen.push(frame);
      if (seen.length === 1) await run.output();
      if (seqOf(frame.event) === (seqOf(seen[0]?.event) ?? 0) + 1) run.gate.open();
    }
    const [snapshot, ...rest] = seen;
    expect(field(snapshot?.event, 'task')).toMatchObject({ id: run.id, status: { state: 'TASK_STATE_WORKING' } });
    const from = seqOf(snapshot?.event) ?? -1;
    expect(snapshot?.id).toBe(String(from));
    expect(numbersOf(rest)).toEqual((await logOf(run)).filter((seq) => seq > from));
    expect(rest.map(({ id }) => id).filter((id) => id !== null)).toEqual(numbersOf(rest).map(String));
    expect(rest.at(-1)?.event).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(rest.at(-2)?.event).toMatchObject({ artifactUpdate: { artifact: { artifactId: 'verify-result' } } });
  });

  test('a streaming send begins with the task and ends with its end', async () => {
    const pair = pairOf('streamed');
    const bearer = await world.pair(pair);
    const params = { message: message(ask(pair)) };
    const operation = {
      name: 'SendStreamingMessage',
      http: { method: 'POST', path: '/message:stream', body: params },
      rpc: { method: 'SendStreamingMessage', params },
    };
    const headers = { ...PROTOCOL, authorization: `Bearer ${bearer}` };
    const response = await request(world.url, binding, operation, headers);
    expect(response.headers.get('a2a-extensions')).toBe(VERIFY_EXTENSION);
    const seen: Frame[] = [];
    for await (const frame of frames(response)) seen.push(frame);
    expect(field(seen[0]?.event, 'task')).toBeDefined();
    expect(seen.at(-1)?.event).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  test('dropped twenty times on two gateways by turns, the union of the events is the log', async () => {
    const run = await running(pairOf('dropped'));
    const other = await world.replica();
    const seen: number[] = [];
    let last: string | null = null;
    for (let count = 0; count < 20; count += 1) await run.output();
    for (let drop = 0; drop < 20; drop += 1) {
      const away = new AbortController();
      const headers = last === null ? {} : { 'Last-Event-ID': last };
      const url = drop % 2 === 0 ? world.url : other.url;
      const response = await request(url, binding, subscription(run.id), run.headers(headers), away.signal);
      let taken = 0;
      try {
        for await (const frame of frames(response)) {
          // The first snapshot holds what came before it; later ones are shown for whoever needs them.
          if (field(frame.event, 'task') === undefined) seen.push(seqOf(frame.event) ?? -1);
          else if (last === null) for (let seq = 1; seq <= (seqOf(frame.event) ?? 0); seq += 1) seen.push(seq);
          last = frame.id ?? last;
          taken += 1;
          // There is always a next one, some of it written while nobody listens.
          await run.output();
          // Dropped at once: what else came in the same packet was never seen.
          if (taken > drop % 4) break;
        }
      } finally {
        away.abort();
      }
    }
    run.gate.open();
    for await (const frame of frames(await subscribe(run, binding, { 'Last-Event-ID': last ?? '0' }))) {
      const seq = seqOf(frame.event);
      if (field(frame.event, 'task') === undefined && seq !== null) seen.push(seq);
    }
    expect(seen).toEqual(await logOf(run));
  });

  test('a task that has ended takes no subscription; GetTask with afterSeq has everything after a number', async () => {
    const run = await running(pairOf('ended'));
    for (let count = 0; count < 5; count += 1) await run.output();
    run.gate.open();
    const client = world.client(run.bearer);
    await pollUntil(async () => (await client.getTask(run.id)).state === 'completed', { what: 'the end' });
    const refused = await (await subscribe(run, binding)).text();
    expect(refused).toContain('UNSUPPORTED_OPERATION');
    const task = await client.getTask(run.id, 3);
    expect(task.metadata.events?.map(({ seq }) => seq)).toEqual((await logOf(run)).filter((seq) => seq > 3));
    expect(task.metadata.more).toBe(false);
  });
});

test('a subscription by POST is the same', async () => {
  const run = await running('by-post');
  const response = await request(world.url, 'HTTP+JSON', subscription(run.id, 'POST'), run.headers());
  run.gate.open();
  const seen: Frame[] = [];
  for await (const frame of frames(response)) seen.push(frame);
  expect(field(seen[0]?.event, 'task')).toBeDefined();
  expect(seen.at(-1)?.event).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
});

test('a position beyond the log is clamped, one that is no number is refused by name', async () => {
  const run = await running('position');
  const snapshot = await subscribe(run, 'HTTP+JSON', { 'Last-Event-ID': '999999' });
  run.gate.open();
  const seen: Frame[] = [];
  for await (const frame of frames(snapshot)) seen.push(frame);
  expect(numbersOf(seen.slice(1))).toEqual((await logOf(run)).filter((seq) => seq > (seqOf(seen[0]?.event) ?? 0)));
  expect(await (await subscribe(run, 'HTTP+JSON', { 'Last-Event-ID': 'x' })).text()).toContain('Last-Event-ID');
});

test('[inv-18] a gateway that goes away cuts its streams, and the watch ends well on another', async () => {
  const run = await running('restart');
  const leaving = await world.replica();
  const raw = await subscribe(run, 'HTTP+JSON', {}, leaving.url);
  const cut = readOut(raw);
  const failed = expect(cut).rejects.toThrow();
  await run.output();
  await leaving.close();
  await failed;
  const watched = world.client(run.bearer).watch(run.id, { afterSeq: 1 });
  await run.output();
  run.gate.open();
  const numbers: number[] = [];
  for await (const item of watched) if (item.kind === 'event') numbers.push(item.numbered.seq);
  expect(numbers).toEqual((await logOf(run)).filter((seq) => seq > 1));
});

test('the watch of our client tells a cut from an end and goes on by itself', async () => {
  const run = await running('watch-cut');
  const beating = await world.replica({ stream: { ...STREAM_SETTINGS, heartbeatMs: 40 } });
  const kinds: string[] = [];
  const numbers: number[] = [];
  let cuts = 0;
  for await (const item of world.client(run.bearer, beating.url).watch(run.id)) {
    kinds.push(item.kind);
    if (item.kind === 'event') numbers.push(item.numbered.seq);
    if (item.kind === 'snapshot') {
      await run.output();
    } else if (item.kind === 'event' && cuts === 0) {
      cuts += 1;
      // Its heartbeat then finds no credential and cuts; the record is good again when the client comes back.
      beating.ctx.credentials.look = failOnce(beating.ctx.credentials.look.bind(beating.ctx.credentials));
      await run.output();
    } else if (item.kind === 'cut') run.gate.open();
  }
  expect(kinds).toContain('cut');
  expect(kinds.at(-1)).toBe('end');
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => (numbers[0] ?? 0) + index));
  await beating.close();
});

function failOnce<A extends unknown[], R>(real: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
  let failed = false;
  return (...given) => {
    if (failed) return real(...given);
    failed = true;
    return Promise.reject(new Error('not now'));
  };
}

test('heartbeats come while nothing happens, and nobody waits for a reader that takes nothing', async () => {
  const run = await running('slow');
  const replica = await world.replica({ stream: { heartbeatMs: 50, stallMs: 300 } });
  const quick = await subscribe(run, 'HTTP+JSON', {}, replica.url);
  const seen: Frame[] = [];
  const reading = (async () => {
    for await (const frame of frames(quick)) seen.push(frame);
  })();
  await pollUntil(() => seen.some(({ event, id }) => event === null && id === null), { what: 'a heartbeat' });

  const port = Number(new URL(replica.url).port);
  const idle = connect({ port, host: '127.0.0.1' });
  const closed = new Promise<void>((resolve) => idle.once('close', () => resolve()));
  idle.on('error', () => {});
  const head = Object.entries(run.headers()).map(([name, value]) => `${name}: ${value}\r\n`);
  idle.write(`GET /a2a/v1/tasks/${run.id}:subscribe HTTP/1.1\r\nHost: x\r\n${head.join('')}\r\n`);
  idle.pause();
  // More than the buffers of both ends hold.
  const detail = 'd'.repeat(1000);
  for (let offset = 100; offset < 12_100; offset += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        world.store.appendEvent(
          world.tenant,
          run.id,
          { source: 'stderr', offset: offset + n },
          {
            type: 'status',
            state: 'working',
            phase: 'running',
            detail,
            outcome: null,
          },
        ),
      ),
    );
  }
  // A paused socket only learns that it was cut when it reads again; the gateway's side is what counts.
  await pollUntil(async () => (await cutsOf(replica.ctx)) > 0, {
    what: 'the slow reader to be cut off',
    deadlineMs: 20_000,
  });
  idle.resume();
  await closed;
  run.gate.open();
  await reading;
  const numbers = numbersOf(seen);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => (numbers[0] ?? 0) + index));
  expect(seen.at(-1)?.event).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  await replica.close();
}, 60_000);

async function cutsOf(ctx: { metrics: { registry: { metrics(): Promise<string> } } }): Promise<number> {
  const text = await ctx.metrics.registry.metrics();
  return Number(/^portcullis_a2a_streams_cut_total(?:\{[^}]*reason="slow"[^}]*\})? (\d+)/m.exec(text)?.[1] ?? 0);
}

test('a stream ends, as a cut, with the credential it was opened with', async () => {
  const run = await running('revoked');
  const replica = await world.replica({ stream: { ...STREAM_SETTINGS, heartbeatMs: 50 } });
  const response = await subscribe(run, 'HTTP+JSON', {}, replica.url);
  const reading = readOut(response);
  const failed = expect(reading).rejects.toThrow();
  const [, , id = ''] = run.bearer.split('.');
  await world.control.revokeCredential(world.tenant, id);
  await failed;
  run.gate.open();
  await replica.close();
});

describe('a cancel that races the end', () => {
  test('[inv-09] ends once, whichever is first, and never changes after', async () => {
    for (const first of ['cancel', 'end'] as const) {
      const run = await running(`race-${first}`);
      const client = world.client(run.bearer);
      const cancel = () => client.cancelTask(run.id).catch((thrown: unknown) => thrown);
      let asked: Promise<unknown>;
      if (first === 'cancel') {
        asked = cancel();
        run.gate.open();
      } else {
        run.gate.open();
        asked = cancel();
      }
      await asked;
      const ended = await pollUntil(
        async () => {
          const task = await client.getTask(run.id, 0);
          return task.metadata.phase === 'ended' && task;
        },
        { what: 'the end' },
      );
      const terminal = ended.metadata.events?.filter(
        ({ event }) => event.type === 'status' && ['completed', 'canceled', 'failed'].includes(event.state),
      );
      expect(terminal).toHaveLength(1);
      expect(['completed', 'canceled']).toContain(ended.state);
      await run.output();
      expect(await client.getTask(run.id, 0)).toEqual(ended);
    }
  });
});
