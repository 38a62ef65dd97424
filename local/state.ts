/**
 * What the local stack keeps in `.portcullis/`: `state.json` (who runs, where), `keys/`, `logs/`, the data of the servers.
 * `state.json` is replaced whole, so a reader or the next start never sees half of it.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { contentDigest, digestHex } from '../schemas/digest.ts';
import type { ProcessIdentity } from './processes.ts';

/** The supervised parts, in the order in which they start. */
export const PART_NAMES = ['store', 'temporal', 'gateway', 'control', 'gate', 'egress', 'coder'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** Ports of the stack. `controlHealth` and `gateHealth` serve health and metrics of the two workers. */
export const PORT_NAMES = [
  'store',
  'temporal',
  'temporalUi',
  'gateway',
  'controlHealth',
  'gateHealth',
  'egress',
  'coder',
] as const;
export type PortName = (typeof PORT_NAMES)[number];
export type Ports = Readonly<Record<PortName, number>>;

/** Lets the kernel choose every one. */
export const ANY_PORTS: Ports = {
  store: 0,
  temporal: 0,
  temporalUi: 0,
  gateway: 0,
  controlHealth: 0,
  gateHealth: 0,
  egress: 0,
  coder: 0,
};

/** Where the first start of all looks first. */
export const DEFAULT_PORTS: Ports = {
  store: 6390,
  temporal: 7233,
  temporalUi: 8233,
  gateway: 7300,
  controlHealth: 7301,
  gateHealth: 7302,
  egress: 7303,
  coder: 7304,
};

const identity = z.object({ pid: z.number().int().positive(), started: z.string() });
/** 0 where none was chosen yet. */
const port = z.number().int().min(0).max(65_535);

const partSchema = z.object({
  /**
   * `external`: a server of the operator's, not supervised. `restarting`: it ended and is started again after a pause.
   * `failed`: it could not be started, the stack is coming down.
   */
  state: z.enum(['external', 'starting', 'ready', 'restarting', 'failed', 'stopped']),
  process: identity.nullable(),
  /** Where it listens, for people: `127.0.0.1:7233`. */
  address: z.string(),
  /** Milliseconds since the epoch: since when it is in this state. */
  since: z.number(),
  /** How often it was started again since the stack came up. */
  restarts: z.number().int(),
  log: z.string().nullable(),
});

const stateSchema = z.object({
  schema: z.literal('portcullis/local-state/v1'),
  supervisor: identity.nullable(),
  startedAt: z.number(),
  /** True once every part was ready; the parts say how they are now. */
  ready: z.boolean(),
  ports: z.object({
    store: port,
    temporal: port,
    temporalUi: port,
    gateway: port,
    controlHealth: port,
    gateHealth: port,
    egress: port,
    coder: port,
  }),
  parts: z.object({
    store: partSchema,
    temporal: partSchema,
    gateway: partSchema,
    control: partSchema,
    gate: partSchema,
    egress: partSchema,
    coder: partSchema,
  }),
});

export type PartState = Readonly<z.infer<typeof partSchema>>;
export type LocalState = Readonly<z.infer<typeof stateSchema>>;

/** The paths under one state directory. */
export function statePaths(root: string) {
  return {
    root,
    file: join(root, 'state.json'),
    lock: join(root, 'supervisor.lock'),
    keys: join(root, 'keys'),
    logs: join(root, 'logs'),
    log: (part: PartName | 'supervisor') => join(root, 'logs', `${part}.log`),
    store: join(root, 'store'),
    temporalDatabase: join(root, 'temporal', 'temporal.db'),
    repositories: join(root, 'repositories'),
    incoming: join(root, 'incoming'),
    workspaces: join(root, 'workspaces'),
    examples: join(root, 'examples'),
    /** State of the local Coder, and the compute of its workspaces. */
    coder: join(root, 'coder'),
    compute: join(root, 'compute'),
    /** In a directory of its own, which is all that a workspace gets to see of this one. */
    gatewaySocket: socketPath(root),
    cache: join(root, 'cache'),
    operator: join(root, 'keys', 'operator'),
  } as const;
}

/** A unix socket's path has room for 107 bytes (104 on macOS); a state directory further down gets one elsewhere. */
const MAX_SOCKET_PATH_BYTES = 100;

function socketPath(root: string): string {
  const path = join(root, 'socket', 'gateway.sock');
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const name = digestHex(contentDigest(new TextEncoder().encode(root))).slice(0, 16);
  return join(tmpdir(), `portcullis-${userInfo().uid}-${name}`, 'gateway.sock');
}

export type StatePaths = ReturnType<typeof statePaths>;

/** Makes the directories, for the owner alone. */
export function makeStateDirectories(paths: StatePaths): void {
  const { root, keys, logs, store, repositories, incoming, workspaces, examples } = paths;
  const servers = [store, dirname(paths.temporalDatabase)];
  const own = [root, keys, logs, paths.cache, ...servers, repositories, incoming, workspaces, examples];
  for (const directory of own) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
  }
  // A workspace's user is another one and sees this directory only, so it has to get through to the socket; the gateway asks
  // everybody who comes for a bearer, here as on its port.
  const socketDirectory = dirname(paths.gatewaySocket);
  mkdirSync(socketDirectory, { recursive: true });
  chmodSync(socketDirectory, 0o711);
}

/** The state as last written; `null` when there is none, or none that can be read. */
export function readState(paths: StatePaths): LocalState | null {
  try {
    const parsed = stateSchema.safeParse(JSON.parse(readFileSync(paths.file, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

export function writeState(paths: StatePaths, state: LocalState): void {
  const staging = `${paths.file}.${process.pid}`;
  writeFileSync(staging, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(staging, paths.file);
}

/** The processes that the state names, for ending what a killed supervisor left behind. */
export function recordedProcesses(state: LocalState): readonly (readonly [PartName, ProcessIdentity])[] {
  return PART_NAMES.flatMap((name) => {
    const { process: found } = state.parts[name];
    return found === null ? [] : [[name, found] as const];
  });
}
