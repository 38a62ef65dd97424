/** From a line that the command in the sandbox writes to the subscriber that reads of it: the line is the time itself. */
import { open, type Endpoint } from '../../client/http.ts';
import { outputChunkPath } from '../../schemas/verify/a2a.ts';
import { makeRepository, seat, type Seated, type Stack } from '../../test/e2e/stage.ts';
import { buffer } from 'node:stream/consumers';
import { progress } from '../support/progress.ts';
import { summarise } from '../support/statistics.ts';
import type { Timing } from '../support/compare.ts';

const ROUNDS = 20;
/** It goes on for a while after its first line, as a test run does: the end must not be what flushes it. */
const MAKEFILE = 'test:\n\t@date +%s%3N; sleep 0.6\n';

/** Milliseconds from the write to the event, and to the chunk's bytes in the subscriber's hands. */
export async function measureFirstChunk(stack: Stack, endpoint: Endpoint): Promise<readonly [Timing, Timing]> {
  const at = await seat(stack, makeRepository(stack, 'first-chunk', { Makefile: MAKEFILE }));
  const [events, chunks]: [number[], number[]] = [[], []];
  try {
    for (let attempt = 1; attempt <= ROUNDS + 2; attempt += 1) {
      const { id } = await at.ask({ argv: ['make', 'test'], attempt });
      const [event, chunk] = await firstChunkOf(at, endpoint, id);
      // The first two compile what the others use.
      if (attempt <= 2) continue;
      events.push(event);
      chunks.push(chunk);
      progress(`first chunk: round ${attempt - 2} of ${ROUNDS}`);
    }
  } finally {
    await at.leave();
  }
  return [
    { name: 'first output: from the write in the sandbox to the event at the subscriber', ms: summarise(events) },
    { name: 'first output: from the write in the sandbox to its bytes at the subscriber', ms: summarise(chunks) },
  ];
}

async function firstChunkOf(at: Seated, endpoint: Endpoint, id: string): Promise<readonly [number, number]> {
  const seen: number[] = [];
  let written = 0;
  for await (const item of at.reviewer.watch(id, { afterSeq: 0 })) {
    if (item.kind !== 'event' || item.numbered.event.type !== 'output' || seen.length > 0) continue;
    const { stream, chunk } = item.numbered.event;
    if (stream !== 'stdout') continue;
    seen.push(Date.now());
    const path = outputChunkPath(id, stream, chunk);
    written = Number((await buffer(await open(endpoint, { method: 'GET', path }))).toString('latin1').trim());
    seen.push(Date.now());
  }
  const [event, bytes] = seen;
  if (event === undefined || bytes === undefined || !(written > 0)) throw new Error(`task ${id} showed no output`);
  return [event - written, bytes - written];
}
