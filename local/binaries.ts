/**
 * The programs of the local stack: from PATH when the version there serves, otherwise from what the set-up fetched into
 * `.portcullis-tools/`.
 *
 * @example const server = storeServer(); // '/…/valkey-server'
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { portcullisError } from '../schemas/errors.ts';
import { PACKAGE_ROOT, isClone } from './package-root.ts';

interface Program {
  /** Names it goes by on PATH, best first. */
  readonly names: readonly string[];
  /** Name in the record of the set-up. */
  readonly tool: string;
  readonly serves: (versionText: string) => boolean;
  readonly elsewhere: string;
}

const TEMPORAL: Program = {
  names: ['temporal'],
  tool: 'temporal',
  // The server inside decides: sealed by the rules of DESIGN section 5, which were tried on 1.32.
  serves: (text) => atLeast(/Server (\d+)\.(\d+)/.exec(text), 1, 30),
  elsewhere: 'put Temporal CLI 1.5 or newer on PATH, or set TEMPORAL_ADDRESS',
};

const STORE: Program = {
  names: ['valkey-server', 'redis-server'],
  tool: 'valkey-server',
  serves: (text) => text.startsWith('Valkey') || atLeast(/v=(\d+)\.(\d+)/.exec(text), 7, 0),
  elsewhere: 'put valkey-server or redis-server 7.0 or newer on PATH, or set REDIS_URL',
};

const TIME_SKIPPING: Program = {
  names: ['temporal-test-server'],
  tool: 'temporal-test-server',
  serves: () => true,
  elsewhere: 'put temporal-test-server on PATH',
};

/** Absolute path of the Temporal CLI, whose `server start-dev` is the local server. @throws `binary_missing` */
export function temporalCli(environment: NodeJS.ProcessEnv = process.env): string {
  return locate(TEMPORAL, environment);
}

/** Absolute path of a Valkey, or of a Redis of at least 7.0. @throws `binary_missing` */
export function storeServer(environment: NodeJS.ProcessEnv = process.env): string {
  return locate(STORE, environment);
}

/** Absolute path of Temporal's time-skipping test server. @throws `binary_missing` */
export function timeSkippingServer(environment: NodeJS.ProcessEnv = process.env): string {
  return locate(TIME_SKIPPING, environment);
}

/** What `program --version` prints, first line; `null` when it cannot be run. */
export function versionOf(path: string): string | null {
  try {
    const text = execFileSync(path, ['--version'], {
      encoding: 'utf8',
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n')[0]?.trim() ?? null;
  } catch {
    return null;
  }
}

/** The first executable file of that name on PATH. */
export function onPath(name: string, environment: NodeJS.ProcessEnv = process.env): string | null {
  const directories = (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function locate(program: Program, environment: NodeJS.ProcessEnv): string {
  for (const name of program.names) {
    const path = onPath(name, environment);
    if (path !== null && program.serves(versionOf(path) ?? '')) return path;
  }
  const fetched = fetchedBySetup(program.tool);
  if (fetched !== null) return fetched;
  const how = isClone() ? `Run npm run setup, or ${program.elsewhere}.` : `Please ${program.elsewhere}.`;
  throw portcullisError('binary_missing', { program: program.tool, how });
}

function fetchedBySetup(tool: string): string | null {
  const home = join(PACKAGE_ROOT, '.portcullis-tools');
  try {
    const current: unknown = JSON.parse(readFileSync(join(home, 'current.json'), 'utf8'));
    const path = programPath(current, tool);
    return path !== null && isExecutable(join(home, path)) ? join(home, path) : null;
  } catch {
    return null;
  }
}

/** Reads one path of the set-up's record (scripts/setup/tools.mjs writes it). */
function programPath(current: unknown, tool: string): string | null {
  const programs = field(current, 'programs');
  const path = field(field(programs, tool), 'path');
  return typeof path === 'string' ? path : null;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function atLeast(match: RegExpExecArray | null, major: number, minor: number): boolean {
  if (match === null) return false;
  const [, foundMajor, foundMinor] = match.map(Number);
  return (foundMajor ?? 0) > major || (foundMajor === major && (foundMinor ?? 0) >= minor);
}
