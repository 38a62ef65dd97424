/**
 * A store of a test's own: Valkey (or Redis) on a free loopback port, in a directory of its own, with the users and
 * settings of the real thing.
 *
 * @example
 * const server = await startStoreServer();
 * const store = gatewayStore(await connectStore(server.settings('gateway')));
 * await server.close();
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { aclFile } from '../../activities/store/acl.ts';
import type { StoreSettings } from '../../activities/store/connect.ts';
import { serverArguments } from '../../activities/store/server-settings.ts';
import type { StorePasswords } from '../../activities/store/users.ts';
import { storeServer } from '../../local/binaries.ts';
import { freePort } from '../../local/ports.ts';
import { recordServer } from './orphans.ts';

export interface StoreServerOptions {
  /** Program to run; default: what the local stack would use. */
  readonly program?: string;
  /** Tenants whose keys the users may touch. Default `local`, `acme`, `other`. */
  readonly tenants?: readonly string[];
  readonly passwords?: StorePasswords;
  /** Further command-line arguments; the last one of a name wins. */
  readonly extraArguments?: readonly string[];
  /** Lines added to the ACL file. */
  readonly extraUsers?: readonly string[];
  /** Changes the text of the ACL file, for servers that are set up wrongly. */
  readonly editAcl?: (text: string) => string;
  readonly maxMemoryBytes?: number;
}

export interface StoreServer {
  readonly url: string;
  readonly port: number;
  readonly directory: string;
  readonly passwords: StorePasswords;
  /** What `connectStore` takes for this user. */
  settings(user: StoreSettings['user']): StoreSettings;
  pid(): number;
  /** Ends the server at once, as a crash would; its directory stays. */
  kill9(): Promise<void>;
  /** Starts it again on the same port and directory (after killing it when it runs). */
  restart(): Promise<void>;
  /** Freezes it: connections stand, nothing is answered. */
  stop(): void;
  cont(): void;
  /** Ends it and removes its directory. */
  close(): Promise<void>;
}

export async function startStoreServer(options: StoreServerOptions = {}): Promise<StoreServer> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-store-'));
  const passwords = options.passwords ?? randomPasswords();
  const acl = aclFile({ tenants: options.tenants ?? ['local', 'acme', 'other'], passwords });
  const text = [acl, ...(options.extraUsers ?? [])].join('\n');
  await writeFile(join(directory, 'users.acl'), options.editAcl?.(text) ?? text, { mode: 0o600 });

  // The port can be taken between the look and the listening, so a server that does not come up tries another.
  for (let attempt = 1; ; attempt += 1) {
    const launch = launcher(options, directory, await freePort());
    try {
      const child = await launch.start(passwords.admin);
      return running(launch, child, directory, passwords);
    } catch (thrown) {
      if (attempt === 3) {
        await rm(directory, { recursive: true, force: true });
        throw thrown;
      }
    }
  }
}

function running(launch: Launcher, first: ChildProcess, directory: string, passwords: StorePasswords): StoreServer {
  let child = first;
  const url = `redis://127.0.0.1:${launch.port}`;
  const kill9 = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    url,
    port: launch.port,
    directory,
    passwords,
    settings: (user) => ({ url, user, password: passwords[user] }),
    pid: () => child.pid ?? 0,
    kill9,
    restart: async () => {
      await kill9();
      child = await launch.start(passwords.admin);
    },
    stop: () => void child.kill('SIGSTOP'),
    cont: () => void child.kill('SIGCONT'),
    close: async () => {
      await kill9();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Launcher {
  readonly port: number;
  start(adminPassword: string): Promise<ChildProcess>;
}

function launcher(options: StoreServerOptions, directory: string, port: number): Launcher {
  const program = options.program ?? storeServer();
  const maxMemoryBytes = options.maxMemoryBytes ?? 256 * 1024 * 1024;
  const settings = serverArguments({ port, directory, aclFile: join(directory, 'users.acl'), maxMemoryBytes });
  return {
    port,
    start: async (adminPassword) => {
      const child = spawn(program, [...settings, ...(options.extraArguments ?? [])], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const forget = recordServer(child.pid ?? 0);
      child.once('exit', forget);
      const output: string[] = [];
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => output.length < 200 && output.push(text));
      }
      await untilAnswering(child, port, adminPassword, output);
      return child;
    },
  };
}

async function untilAnswering(
  child: ChildProcess,
  port: number,
  password: string,
  output: readonly string[],
): Promise<void> {
  const deadline = performance.now() + 10_000;
  const redis = new Redis({
    host: '127.0.0.1',
    port,
    username: 'admin',
    password,
    protocol: 2,
    disableClientInfo: true,
    lazyConnect: true,
    retryStrategy: () => 20,
  });
  redis.on('error', () => {});
  const exited = new Promise<'exited'>((resolve) => {
    child.once('exit', () => resolve('exited'));
    child.once('error', () => resolve('exited'));
  });
  const ready = new Promise<'ready'>((resolve) => redis.once('ready', () => resolve('ready')));
  const late = new Promise<'late'>((resolve) => void setTimeout(resolve, deadline - performance.now(), 'late').unref());
  void redis.connect().catch(() => {});
  const outcome = await Promise.race([ready, exited, late]);
  redis.disconnect();
  if (outcome === 'ready' && child.exitCode === null) return;
  child.kill('SIGKILL');
  throw new Error(`The store server did not come up (${outcome}):\n${output.join('')}`);
}

function randomPasswords(): StorePasswords {
  const password = () => randomBytes(24).toString('base64url');
  return { admin: password(), control: password(), gate: password(), gateway: password(), reader: password() };
}
