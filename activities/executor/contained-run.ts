/**
 * Runs one command in a sandbox to its end, and sees to it that nothing it started outlives it: its pid namespace dies whole,
 * on exit, time-out and cancel alike, however its processes detached.
 *
 * Call it from the main thread: the sandbox dies with the thread that started it.
 */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { OUTPUT_STREAMS, type OutputStream } from '../../schemas/keys.ts';
import type { EndingLimit } from '../../schemas/verify/report.ts';
import { openPipes, type OutputPipe } from './pipes.ts';
import { descendantsOf, hasEnded, signalQuietly } from './process-table.ts';
import { spawnSandbox, type Exit, type Sandbox, type SandboxStatus } from './spawn-sandbox.ts';

export interface ContainedCommand {
  readonly bwrap: string;
  readonly mkfifo: string;
  /** bwrap's options, without the command. */
  readonly options: readonly string[];
  readonly command: readonly string[];
  /** Private directory for the pipes. */
  readonly directory: string;
  readonly timeoutMs: number;
  /** Between TERM and KILL. */
  readonly graceMs: number;
  readonly cancellation: AbortSignal;
  readonly onOutput: (stream: OutputStream, bytes: Uint8Array) => void;
  /** Files of cgroups that the sandbox enters before anything of it runs. */
  readonly joins?: readonly string[];
  /** Watches the run from its start to its end, and may end it. */
  readonly watch?: (sandbox: WatchedSandbox) => { close(): void };
}

export interface WatchedSandbox {
  /** The first process of the pid namespace, by our numbering; `null` until it is there. */
  readonly first: () => number | null;
  /** Ends the run at once: it crossed a limit. */
  readonly exceed: (limit: EndingLimit, reason: string) => void;
}

export interface ContainedEnding {
  /** `exceeded`: it was ended because it crossed a limit, which {@link ContainedEnding.exceeded} names. */
  readonly outcome: 'exited' | 'exceeded' | 'timed_out' | 'cancelled' | 'failed_to_start';
  /** As the sandbox's first process saw it: 128 + n for signal n. `null` unless it exited by itself. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly reason: string;
  readonly durationMs: number;
  readonly exceeded: EndingLimit | null;
}

/** How long the last descendant may take to vanish after KILL before the machine is called broken. */
const VANISH_MS = 10_000;

export async function runContained(command: ContainedCommand): Promise<ContainedEnding> {
  if (command.cancellation.aborted) return ending('cancelled', performance.now());
  const pipes = await openPipes(command.mkfifo, command.directory, OUTPUT_STREAMS);
  const started = performance.now();
  const [stdout = 0, stderr = 0] = pipes.map(({ writer }) => writer);
  const sandbox = spawnSandbox({ ...command, joins: command.joins ?? [], stdout, stderr });
  const drained = pipes.map(({ reader }, index) => drain(reader, OUTPUT_STREAMS[index] ?? 'stdout', command.onOutput));
  await Promise.all(pipes.map((pipe) => pipe.closeWriter()));
  const stop = stopOnTimerOrCancel(command, sandbox);
  const watch = command.watch?.({ first: () => sandbox.status.first, exceed: stop.exceed });
  const exit = await sandbox.exit;
  watch?.close();
  stop.disarm();
  await vanish(sandbox);
  await withinOrDestroy(pipes, drained);
  return conclude(exit, sandbox.status, stop.why(), started);
}

type StopReason =
  | { readonly outcome: 'timed_out' | 'cancelled' }
  | { readonly outcome: 'exceeded'; readonly limit: EndingLimit; readonly reason: string };

interface Stop {
  why(): StopReason | null;
  readonly exceed: WatchedSandbox['exceed'];
  disarm(): void;
}

function stopOnTimerOrCancel(command: ContainedCommand, sandbox: Sandbox): Stop {
  let why: StopReason | null = null;
  let escalation: NodeJS.Timeout | undefined;
  const begin = (outcome: 'timed_out' | 'cancelled'): void => {
    if (why !== null) return;
    why = { outcome };
    void terminate(sandbox);
    escalation = setTimeout(() => killAll(sandbox), command.graceMs);
  };
  const timer = setTimeout(() => begin('timed_out'), command.timeoutMs);
  const onAbort = (): void => begin('cancelled');
  command.cancellation.addEventListener('abort', onAbort, { once: true });
  if (command.cancellation.aborted) onAbort();
  return {
    why: () => why,
    // It is not asked first: meanwhile it would go on.
    exceed: (limit, reason) => {
      if (why !== null) return;
      why = { outcome: 'exceeded', limit, reason };
      killAll(sandbox);
    },
    disarm: () => {
      clearTimeout(timer);
      clearTimeout(escalation);
      command.cancellation.removeEventListener('abort', onAbort);
    },
  };
}

/** Asks every process inside to end. The namespace's first process is left alone: it cannot be asked, only killed. */
async function terminate({ status }: Sandbox): Promise<void> {
  if (status.first === null) return;
  for (const pid of await descendantsOf(status.first)) signalQuietly(pid, 'SIGTERM');
}

function killAll({ process: child, status }: Sandbox): void {
  if (status.first !== null) signalQuietly(status.first, 'SIGKILL');
  else child.kill('SIGKILL');
}

/**
 * Waits until no process of the namespace is left. bwrap ends as soon as the command does, while whatever the command left
 * behind still runs; the kernel ends a pid namespace whole when its first process dies.
 */
async function vanish({ status }: Sandbox): Promise<void> {
  const { first } = status;
  if (first === null) return;
  const deadline = performance.now() + VANISH_MS;
  while (!(await hasEnded(first))) {
    if (performance.now() > deadline) throw new Error(`process ${first} does not end after SIGKILL`);
    signalQuietly(first, 'SIGKILL');
    await delay(5);
  }
}

async function drain(reader: Readable, stream: OutputStream, onOutput: ContainedCommand['onOutput']): Promise<void> {
  reader.on('data', (bytes: Uint8Array) => onOutput(stream, bytes));
  await finished(reader, { writable: false });
}

/** With every writer dead the pipes end by themselves; one that does not is cut rather than waited for. */
async function withinOrDestroy(pipes: readonly OutputPipe[], drained: readonly Promise<void>[]): Promise<void> {
  const cut = setTimeout(() => {
    for (const { reader } of pipes) reader.destroy();
  }, VANISH_MS);
  await Promise.allSettled(drained);
  clearTimeout(cut);
}

function conclude(exit: Exit, status: SandboxStatus, why: StopReason | null, started: number): ContainedEnding {
  // A command that ended just before the stop reached it was still stopped: what it would have said is not known.
  if (why?.outcome === 'exceeded') {
    return { ...ending('exceeded', started), signal: 'SIGKILL', reason: why.reason, exceeded: why.limit };
  }
  if (why !== null) return { ...ending(why.outcome, started), signal: 'SIGKILL' };
  if ('error' in exit) return { ...ending('failed_to_start', started), reason: exit.error.message };
  if (status.exitCode === null) {
    return { ...ending('failed_to_start', started), reason: `the sandbox ended with ${exit.code ?? 'a signal'}` };
  }
  return { ...ending('exited', started), exitCode: status.exitCode };
}

function ending(outcome: ContainedEnding['outcome'], started: number): ContainedEnding {
  const durationMs = Math.round(performance.now() - started);
  return { outcome, exitCode: null, signal: null, reason: '', durationMs, exceeded: null };
}
