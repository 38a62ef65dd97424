/** `portcullis` as a process of a test's own, with a state directory and ports of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopLocalStack } from '../../local/down.ts';
import { readState, statePaths, type LocalState, type StatePaths } from '../../local/state.ts';
import { recordServer } from '../support/orphans.ts';
import { pollUntil } from '../support/poll.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
}

/** One state directory and the commands that use it. */
export class Home {
  readonly directory = mkdtempSync(join(tmpdir(), 'portcullis-stack-'));
  readonly paths: StatePaths = statePaths(join(this.directory, 'state'));

  /** @param cache is shared between homes: what is in it is named by its content, and takes seconds to make */
  constructor(cache: string) {
    mkdirSync(this.paths.root, { mode: 0o700 });
    symlinkSync(cache, this.paths.cache);
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): RunningCommand {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.directory,
      env: {
        PATH: process.env['PATH'],
        HOME: this.directory,
        PORTCULLIS_STATE_DIR: this.paths.root,
        PORTCULLIS_LOCAL_PORTS: 'any',
        NODE_COMPILE_CACHE: join(tmpdir(), 'portcullis-test-compiled'),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) child.once('exit', recordServer(child.pid));
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...said })));
    return { child, stderr: () => said.stderr, ended };
  }

  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.start(args, environment).ended;
  }

  /** Starts the stack and resolves when it is ready. */
  async up(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Promise<RunningCommand> {
    const command = this.start(['up', '--no-example', ...args], environment);
    await this.ready(command);
    return command;
  }

  async ready(command: RunningCommand): Promise<void> {
    await pollUntil(
      () => {
        if (command.child.exitCode !== null) throw new Error(`up ended: ${command.stderr()}${this.logs()}`);
        // The state of a supervisor that was killed says ready too.
        const state = readState(this.paths);
        return state?.supervisor?.pid === command.child.pid && state?.ready === true;
      },
      { what: 'the stack to be ready', deadlineMs: 90_000 },
    );
  }

  state(): LocalState {
    const state = readState(this.paths);
    if (state === null) throw new Error('there is no state.json');
    return state;
  }

  logs(): string {
    const parts = ['store', 'temporal', 'gateway', 'control', 'gate'] as const;
    return parts.map((part) => `\n--- ${part}\n${tail(this.paths.log(part))}`).join('');
  }

  /** Ends whatever still runs and removes the directory. */
  async remove(): Promise<void> {
    await stopLocalStack(this.paths);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-1_500);
  } catch {
    return '';
  }
}
