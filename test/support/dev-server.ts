/** An in-memory Temporal dev server for tests, with our search attributes, on a port of the kernel's choice. */
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporalCli } from '../../local/binaries.ts';
import { freePort, LOOPBACK } from '../../local/ports.ts';
import { identify, stop } from '../../local/processes.ts';
import { awaitTemporal, devServerArguments } from '../../local/temporal.ts';
import { recordServer } from './orphans.ts';

export interface DevServer {
  readonly address: string;
  readonly namespace: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** @param databaseFile keeps histories over a restart; in memory when left out. `port` starts it where it was. */
export async function startDevServer(options: { databaseFile?: string; port?: number } = {}): Promise<DevServer> {
  // Somebody may take a free port before the server does; then another is tried.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(options.port ?? (await freePort()), options.databaseFile ?? null);
    } catch (error) {
      if (attempt === 3 || options.port !== undefined) throw error;
    }
  }
}

async function startOn(port: number, databaseFile: string | null): Promise<DevServer> {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-dev-server-'));
  const logFile = join(directory, 'log');
  const log = openSync(logFile, 'w');
  const child = spawn(temporalCli(), devServerArguments({ port, uiPort: null, databaseFile }), {
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'], HOME: directory },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the dev server could not be spawned');
  const identity = identify(pid);
  const forget = recordServer(pid);
  const close = async () => {
    if (identity !== null) await stop(identity, 3_000);
    forget();
    rmSync(directory, { recursive: true, force: true });
  };
  const address = `${LOOPBACK}:${port}`;
  try {
    await awaitTemporal(address, 'default', 30_000, () => child.exitCode !== null);
  } catch (error) {
    const said = readFileSync(logFile, 'utf8').slice(-2_000);
    await close();
    throw new Error(`the dev server did not start; its log ends: ${said}`, { cause: error });
  }
  return { address, namespace: 'default', pid, close };
}
