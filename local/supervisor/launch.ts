/** Starts one server process of the stack: own process group, own log file, nothing of the operator's environment. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { identify, type ProcessIdentity } from '../processes.ts';

const MAX_LOG_BYTES = 16 * 1024 * 1024;

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Launched {
  readonly identity: ProcessIdentity;
  /** Resolves with what ended it: an exit code or the name of a signal. */
  readonly ended: Promise<string>;
}

/**
 * In a group of its own, so that Ctrl-C in the terminal reaches the supervisor alone, which stops the parts in order.
 * `null` when the program cannot be started.
 */
export function launch(command: Command, logFile: string): Launched | null {
  rotate(logFile);
  const log = openSync(logFile, 'a', 0o600);
  try {
    const child = spawn(command.program, command.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...command.env },
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 'unknown'}`));
    });
    const identity = child.pid === undefined ? null : identify(child.pid);
    return identity === null ? null : { identity, ended };
  } finally {
    closeSync(log);
  }
}

/** The last lines of a log, for the message of a start that failed. */
export function lastLines(logFile: string, count: number): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}

function rotate(logFile: string): void {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`);
}
