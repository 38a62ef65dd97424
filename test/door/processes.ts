/** Starts the test's processes, hears what they say, and ends them by pid. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { GatewaySettings } from '../../gateway/main.ts';
import type { Seat } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';

const EXECUTOR = 'DOOR_TEST_EXECUTOR';
const GATEWAY = 'DOOR_TEST_GATEWAY';

export interface ExecutorSettings {
  readonly address: string;
  readonly bearer: string;
  readonly seat: Seat;
}

type GatewayProcessSettings = Omit<GatewaySettings, 'logger'>;

export function executorSettings(environment: NodeJS.ProcessEnv): ExecutorSettings {
  return JSON.parse(environment[EXECUTOR] ?? '') as ExecutorSettings;
}

export function gatewaySettings(environment: NodeJS.ProcessEnv): GatewayProcessSettings {
  return JSON.parse(environment[GATEWAY] ?? '') as GatewayProcessSettings;
}

export interface TestProcess {
  readonly child: ChildProcess;
  /** The first line that has this field, past or to come. */
  said(field: string): Promise<Readonly<Record<string, unknown>>>;
  /** Ends it at once and waits until it is gone. */
  kill9(): Promise<void>;
}

export function spawnExecutor(settings: ExecutorSettings): TestProcess {
  return run('executor-process.ts', EXECUTOR, settings);
}

/** @returns once it listens */
export async function spawnGateway(settings: GatewayProcessSettings): Promise<TestProcess & { readonly port: number }> {
  const running = run('gateway-process.ts', GATEWAY, settings);
  const { port } = await running.said('port');
  if (typeof port !== 'number') throw new Error('the gateway did not say its port');
  return { ...running, port };
}

function run(file: string, name: string, settings: unknown): TestProcess {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], [name]: JSON.stringify(settings) },
  });
  const lines: Readonly<Record<string, unknown>>[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) =>
    lines.push(JSON.parse(line) as Record<string, unknown>),
  );
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  return {
    child,
    said: (field) =>
      pollUntil(
        () => {
          const line = lines.find((one) => field in one);
          if (line === undefined && child.exitCode !== null)
            throw new Error(`${file} ended: ${errors.join('').slice(-2_000)}`);
          return line;
        },
        {
          what: `${file} to say "${field}"; it said ${JSON.stringify(lines)} ${errors.join('').slice(-2_000)}`,
          deadlineMs: 20_000,
        },
      ),
    async kill9() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** True while the process is there and not a zombie. */
export function isRunning(pid: unknown): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${Number(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}
