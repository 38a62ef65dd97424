import { afterEach, describe, expect, test, vi } from 'vitest';
import { portcullisError } from '../schemas/errors.ts';
import type { NumberedTaskEvent, TaskState } from '../schemas/verify/task.ts';
import type { Streamed, VerifyTask } from './a2a.ts';
import { watchTask, type WatchCalls, type Watched } from './watch.ts';

const END: NumberedTaskEvent = {
  seq: 6,
  at: 0,
  event: { type: 'status', state: 'completed', phase: 'ended', detail: '', outcome: 'completed' },
};
const LOG: readonly NumberedTaskEvent[] = [
  ...[1, 2, 3, 4, 5].map((seq) => ({
    seq,
    at: 0,
    event: { type: 'output' as const, stream: 'stdout' as const, chunk: seq, bytes: 1 },
  })),
  END,
];

function task(state: TaskState, seq: number, events: readonly NumberedTaskEvent[] = [], more = false): VerifyTask {
  const metadata = {
    seq,
    phase: 'running' as const,
    detail: '',
    outcome: null,
    requestDigest: '',
    pair: 'p',
    satisfied: null,
    events,
    more,
  };
  return { id: 'x', contextId: 'c', state, detail: '', metadata, result: null };
}

/** A gateway with this log, whose connections break after so many events each; `null`: it ends in good form. */
function gateway(
  breaks: readonly (number | null)[],
  known = LOG.length,
): WatchCalls & { readonly positions: unknown[] } {
  const positions: unknown[] = [];
  let connections = 0;
  return {
    positions,
    async *subscribe(lastEventId): AsyncGenerator<Streamed> {
      positions.push(lastEventId);
      const breakAfter = breaks[connections];
      connections += 1;
      if (breakAfter === undefined) throw portcullisError('unsupported_operation', { reason: 'ended' });
      yield { kind: 'snapshot', task: task('working', lastEventId ?? 0) };
      let sent = 0;
      for (const numbered of LOG) {
        if (numbered.seq <= (lastEventId ?? 0)) continue;
        if (sent === breakAfter) throw portcullisError('stream_cut');
        sent += 1;
        yield { kind: 'event', numbered };
        await Promise.resolve();
      }
    },
    getTask: (afterSeq) => {
      const later = LOG.filter(({ seq }) => seq > afterSeq);
      // While connections are left the task is under way, and GetTask knows no more than a stream would tell.
      if (connections < breaks.length) return Promise.resolve(task('working', afterSeq));
      return Promise.resolve(task('completed', known, later.slice(0, 2), later.length > 2));
    },
    pause: () => Promise.resolve(),
  };
}

async function all(calls: WatchCalls, afterSeq: number | null): Promise<readonly Watched[]> {
  const seen: Watched[] = [];
  for await (const item of watchTask(calls, afterSeq)) seen.push(item);
  return seen;
}

const numbers = (seen: readonly Watched[]) =>
  seen.flatMap((item) => (item.kind === 'event' ? [item.numbered.seq] : []));

afterEach(() => vi.restoreAllMocks());

describe('a watch', () => {
  test('without a cut shows the snapshot, each event and the end', async () => {
    const seen = await all(gateway([null]), null);
    expect(seen.map(({ kind }) => kind)).toEqual(['snapshot', ...LOG.map(() => 'event'), 'end']);
  });

  test('cut anywhere, again and again, goes on behind the last event it has', async () => {
    const calls = gateway([0, 1, 0, 2, null]);
    const seen = await all(calls, 0);
    expect(numbers(seen)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(calls.positions).toEqual([0, 0, 1, 1, 3]);
    expect(seen.filter(({ kind }) => kind === 'cut')).toHaveLength(4);
    expect(seen.at(-1)?.kind).toBe('end');
  });

  test('of a task that has ended reads what it lacks page by page', async () => {
    expect(numbers(await all(gateway([]), 1))).toEqual([2, 3, 4, 5, 6]);
  });

  test('a stream that is over is no end while the task is not', async () => {
    const calls = gateway([]);
    let asked = 0;
    const patient: WatchCalls = {
      ...calls,
      async *subscribe() {
        yield await Promise.resolve({ kind: 'snapshot', task: task('working', 6) } as const);
      },
      getTask: () => Promise.resolve(task((asked += 1) < 3 ? 'working' : 'completed', 6)),
    };
    const seen = await all(patient, 6);
    expect(asked).toBe(3);
    expect(seen.map(({ kind }) => kind)).toEqual(['end']);
  });

  test('that cannot come back for a minute and a half is thrown as a cut, never shown as an end', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const cut = () => portcullisError('gateway_unavailable', { url: 'http://127.0.0.1:1' });
    const gone: WatchCalls = {
      subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(cut()) }) }),
      getTask: () => Promise.reject(cut()),
      pause: () => {
        now += 10_000;
        return Promise.resolve();
      },
    };
    const seen: Watched[] = [];
    const watching = async () => {
      for await (const item of watchTask(gone, 3)) seen.push(item);
    };
    await expect(watching()).rejects.toMatchObject({ code: 'stream_cut', edge: { exit: 9 } });
    expect(now).toBeGreaterThan(90_000);
    expect(new Set(seen.map(({ kind }) => kind))).toEqual(new Set(['cut']));
  });

  test.each(['unauthenticated', 'not_found', 'interrupted'] as const)('%s is thrown, not retried', async (code) => {
    const failing: WatchCalls = {
      ...gateway([]),
      subscribe: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(portcullisError(code)) }),
      }),
    };
    await expect(all(failing, null)).rejects.toMatchObject({ code });
  });
});
