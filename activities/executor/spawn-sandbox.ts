/** Starts one sandbox and hears what becomes of it. Call it from the main thread: the sandbox dies with the thread that started it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { systemCallFilter } from './seccomp.ts';

export interface SandboxStart {
  readonly bwrap: string;
  /** bwrap's options, without the command. */
  readonly options: readonly string[];
  readonly command: readonly string[];
  /** Files of cgroups that the sandbox enters before anything of it runs. */
  readonly joins: readonly string[];
  /** Descriptors of its stdout and stderr. */
  readonly stdout: number;
  readonly stderr: number;
}

export interface Sandbox {
  readonly process: ChildProcess;
  readonly exit: Promise<Exit>;
  readonly status: SandboxStatus;
}

export type Exit = { readonly code: number | null } | { readonly error: Error };

export interface SandboxStatus {
  /** The first process of the pid namespace, by our numbering. Its death is the death of every process in it. */
  first: number | null;
  /** Set once the set-up is done and the command has run. */
  exitCode: number | null;
}

export function spawnSandbox({ bwrap, options, command, joins, stdout, stderr }: SandboxStart): Sandbox {
  const filter = systemCallFilter();
  const filtered = filter === null ? [] : ['--seccomp', '5'];
  const whole = [bwrap, '--args', '3', '--json-status-fd', '4', ...filtered, '--', ...command];
  const [program = '', ...args] = entering(joins, whole);
  const child = spawn(program, args, {
    // Its options, its status, and the filter of system calls.
    stdio: ['ignore', stdout, stderr, 'pipe', 'pipe', 'pipe'],
    env: {},
    cwd: '/',
  });
  const status: SandboxStatus = { first: null, exitCode: null };
  const exit = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ error }));
    // `close` and not `exit`: the status descriptor has then been read to its end.
    child.once('close', (code) => resolve({ code }));
  });
  const descriptors: readonly unknown[] = child.stdio;
  const [, , , wanted, json, filtering] = descriptors;
  feed(wanted, options.map((option) => `${option}\0`).join(''));
  feed(filtering, filter ?? '');
  if (json instanceof Readable) readStatus(json, status);
  return { process: child, exit, status };
}

/**
 * Behind a shell that enters the cgroups first: whoever is moved later has started children outside by then. When the workspace as a
 * whole has no memory left, which may be before the run has used up its own, the kernel ends what has this score rather than the
 * executor; not every container lets it be written.
 */
function entering(joins: readonly string[], command: readonly string[]): readonly string[] {
  const offer = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj;';
  const enter = `${offer} until [ "$1" = -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"`;
  return ['/bin/sh', '-c', enter, 'sh', ...joins, '--', ...command];
}

/** bwrap may be gone before it has read this; its exit says so better than the pipe. */
function feed(pipe: unknown, bytes: string | Buffer): void {
  if (!(pipe instanceof Writable)) return;
  pipe.on('error', () => {});
  pipe.end(bytes);
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
