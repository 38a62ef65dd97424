/**
 * Runs one command in a sandbox to its end, and sees to it that nothing it started outlives it: its pid namespace dies whole,
 * on exit, time-out and cancel alike, however its processes detached.
 *
 * Call it from the main thread: the sandbox dies with the thread that started it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { OUTPUT_STREAMS, type OutputStream } from '../../schemas/keys.ts';
import { openPipes, type OutputPipe } from './pipes.ts';
import { descendantsOf, hasEnded, signalQuietly } from './process-table.ts';

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
}

export interface ContainedEnding {
  readonly outcome: 'exited' | 'timed_out' | 'cancelled' | 'failed_to_start';
  /** As the sandbox's first process saw it: 128 + n for signal n. `null` unless it exited by itself. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly reason: string;
  readonly durationMs: number;
}

/** How long the last descendant may take to vanish after KILL before the machine is called broken. */
const VANISH_MS = 10_000;

export async function runContained(command: ContainedCommand): Promise<ContainedEnding> {
  if (command.cancellation.aborted) return ending('cancelled', performance.now());
  const pipes = await openPipes(command.mkfifo, command.directory, OUTPUT_STREAMS);
  const started = performance.now();
  const sandbox = spawnSandbox(command, pipes);
  const drained = pipes.map(({ reader }, index) => drain(reader, OUTPUT_STREAMS[index] ?? 'stdout', command.onOutput));
  await Promise.all(pipes.map((pipe) => pipe.closeWriter()));
  const stop = stopOnTimerOrCancel(command, sandbox);
  const exit = await sandbox.exit;
  stop.disarm();
  await vanish(sandbox);
  await withinOrDestroy(pipes, drained);
  return conclude(exit, sandbox.status, stop.why(), started);
}

interface Sandbox {
  readonly process: ChildProcess;
  readonly exit: Promise<Exit>;
  readonly status: SandboxStatus;
}

type Exit = { readonly code: number | null } | { readonly error: Error };

interface SandboxStatus {
  /** The first process of the pid namespace, by our numbering. Its death is the death of every process in it. */
  first: number | null;
  /** Set once the set-up is done and the command has run. */
  exitCode: number | null;
}

function spawnSandbox(command: ContainedCommand, pipes: readonly OutputPipe[]): Sandbox {
  const [stdout, stderr] = pipes.map(({ writer }) => writer);
  const child = spawn(command.bwrap, ['--args', '3', '--json-status-fd', '4', '--', ...command.command], {
    stdio: ['ignore', stdout ?? 'ignore', stderr ?? 'ignore', 'pipe', 'pipe'],
    env: {},
    cwd: '/',
  });
  const status: SandboxStatus = { first: null, exitCode: null };
  const exit = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ error }));
    // `close` and not `exit`: the status descriptor has then been read to its end.
    child.once('close', (code) => resolve({ code }));
  });
  const [, , , args, json] = child.stdio;
  if (args instanceof Writable) {
    // bwrap may be gone before it has read them; its exit says so better than this pipe.
    args.on('error', () => {});
    args.end(command.options.map((option) => `${option}\0`).join(''));
  }
  if (json instanceof Readable) readStatus(json, status);
  return { process: child, exit, status };
}

function readStatus(stream: Readable, status: SandboxStatus): void {
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-4096);
    status.first ??= numberAfter('child-pid', text);
    status.exitCode ??= numberAfter('exit-code', text);
  });
}

function numberAfter(name: string, text: string): number | null {
  const match = new RegExp(`"${name}": (\\d+)\\b[^\\d]`).exec(text);
  return match === null ? null : Number(match[1]);
}

interface Stop {
  why(): 'timed_out' | 'cancelled' | null;
  disarm(): void;
}

function stopOnTimerOrCancel(command: ContainedCommand, sandbox: Sandbox): Stop {
  let why: 'timed_out' | 'cancelled' | null = null;
  let escalation: NodeJS.Timeout | undefined;
  const begin = (reason: 'timed_out' | 'cancelled'): void => {
    if (why !== null) return;
    why = reason;
    void terminate(sandbox);
    escalation = setTimeout(() => killAll(sandbox), command.graceMs);
  };
  const timer = setTimeout(() => begin('timed_out'), command.timeoutMs);
  const onAbort = (): void => begin('cancelled');
  command.cancellation.addEventListener('abort', onAbort, { once: true });
  if (command.cancellation.aborted) onAbort();
  return {
    why: () => why,
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

function conclude(
  exit: Exit,
  status: SandboxStatus,
  why: 'timed_out' | 'cancelled' | null,
  started: number,
): ContainedEnding {
  // A command that ended just before the stop reached it was still stopped: what it would have said is not known.
  if (why !== null) return { ...ending(why, started), signal: 'SIGKILL' };
  if ('error' in exit) return { ...ending('failed_to_start', started), reason: exit.error.message };
  if (status.exitCode === null) {
    return { ...ending('failed_to_start', started), reason: `the sandbox ended with ${exit.code ?? 'a signal'}` };
  }
  return { ...ending('exited', started), exitCode: status.exitCode };
}

function ending(outcome: ContainedEnding['outcome'], started: number): ContainedEnding {
  const durationMs = Math.round(performance.now() - started);
  return { outcome, exitCode: null, signal: null, reason: '', durationMs };
}
