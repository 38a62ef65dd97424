/**
 * Memory of executor and gateway while a command writes 1 GiB: the real stack, a real workspace, a subscriber that reads along.
 * What counts is the most that each holds above what it held while nothing ran.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf } from '../activities/executor/process-table.ts';
import { makeRepository, seat, startStack, type Seated, type Stack } from '../test/e2e/stage.ts';
import type { Bench, BenchReport, Goal } from './support/report.ts';
import { progress } from './support/progress.ts';

export const streamingBench: Bench = {
  name: 'streaming',
  about: 'memory of executor and gateway while 1 GiB of output streams',
  run,
};

const OUTPUT_BYTES = 1024 ** 3;
const LINE = 'a line of output, as a noisy test run writes them';
const LIMIT_SECS = 90;
const SAMPLE_MS = 50;
/** Looked at before the run, so that one moment of a process does not stand for its rest. */
const IDLE_SAMPLES = 40;
const GOAL_MIB = 150;
const MIB = 1024 ** 2;

async function run(): Promise<BenchReport> {
  const stack = await startStack();
  try {
    const repository = makeRepository(stack, 'noisy', {
      Makefile: `test:\n\t@yes '${LINE}' | head -c ${OUTPUT_BYTES}\n`,
    });
    const seated = await seat(stack, repository);
    try {
      return await measure(stack, seated);
    } finally {
      await seated.leave();
    }
  } finally {
    await stack.close();
  }
}

interface Watched {
  readonly name: string;
  readonly pid: number;
  /** Bytes. */
  idle: number;
  peak: number;
}

async function measure(stack: Stack, seated: Seated): Promise<BenchReport> {
  const watched: readonly Watched[] = [
    { name: 'executor', pid: await executorPid(seated), idle: 0, peak: 0 },
    { name: 'gateway', pid: stack.pid('gateway'), idle: 0, peak: 0 },
  ];
  for (let sample = 0; sample < IDLE_SAMPLES; sample += 1) {
    for (const one of watched) one.idle = Math.max(one.idle, await residentBytes(one.pid));
    await delay(SAMPLE_MS);
  }
  progress('1 GiB begins to stream');
  const began = performance.now();
  const task = await seated.ask({ argv: ['make', 'test'], timeout_secs: LIMIT_SECS });
  const seen = follow(seated, task.id);
  const done = new AbortController();
  const ended = seen.finally(() => done.abort());
  const sampled = sample(watched, done.signal);
  const events = await ended;
  await sampled;
  const seconds = (performance.now() - began) / 1000;
  const { result } = await seated.reviewer.getTask(task.id);
  const stdout = result?.stdout ?? null;
  if (stdout?.bytes !== OUTPUT_BYTES)
    throw new Error(`${stdout?.bytes ?? 0} bytes were counted (${result?.status ?? ''})`);
  return {
    comparisons: [],
    timings: [],
    goals: watched.map(goalOf),
    facts: {
      'bytes written': stdout.bytes,
      'bytes stored': stdout.stored,
      'chunks lost': stdout.chunks_failed,
      'events at the subscriber': events,
      seconds: Number(seconds.toPrecision(3)),
      'MiB/s': Number((OUTPUT_BYTES / MIB / seconds).toPrecision(3)),
      ...Object.fromEntries(watched.map(({ name, idle }) => [`${name} idle, MiB`, Math.round(idle / MIB)])),
    },
  };
}

async function sample(watched: readonly Watched[], done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    for (const one of watched) one.peak = Math.max(one.peak, await residentBytes(one.pid));
    await delay(SAMPLE_MS);
  }
}

function goalOf({ name, idle, peak }: Watched): Goal {
  const above = Math.max(0, peak - idle) / MIB;
  return {
    goal: `${name} at most ${GOAL_MIB} MiB above idle while 1 GiB streams`,
    measured: `${above.toFixed(1)} MiB`,
    met: above <= GOAL_MIB,
  };
}

/** Reads the task's events to its end; how many there were. */
async function follow({ reviewer }: Seated, id: string): Promise<number> {
  let events = 0;
  for await (const seen of reviewer.watch(id, { signal: AbortSignal.timeout((LIMIT_SECS + 30) * 1000) })) {
    if (seen.kind === 'event') events += 1;
  }
  return events;
}

async function executorPid({ workspace }: Seated): Promise<number> {
  for (const pid of await descendantsOf(workspace?.pid ?? 0)) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes('workers/executor/main')) return pid;
  }
  throw new Error('the workspace has no executor');
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
