/** How each part of the local stack is started and when it counts as ready. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SETTINGS, type SettingKey } from '../../schemas/settings.ts';
import { storeServer, temporalCli } from '../binaries.ts';
import { storePasswords } from '../keys.ts';
import { modulePath } from '../package-root.ts';
import { LOOPBACK } from '../ports.ts';
import type { Ports } from '../state.ts';
import { awaitStore, localStoreArguments, localStoreUrl } from '../store.ts';
import { awaitTemporal, devServerArguments } from '../temporal.ts';
import type { StackOptions } from './options.ts';
import type { PartPlan } from './part.ts';

const SERVER_DEADLINE_MS = 60_000;
const PART_DEADLINE_MS = 60_000;

/** Variables of the operator's that every part may see: where programs are, how text and certificates are read. */
const PASSED_ON = ['PATH', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'NODE_EXTRA_CA_CERTS'] as const;

/** Addresses at which the parts find each other. */
export interface StackAddresses {
  readonly temporal: string;
  /** Without credentials. */
  readonly store: string;
  readonly gateway: string;
}

export function stackAddresses(options: StackOptions, ports: Ports): StackAddresses {
  return {
    temporal: options.temporalAddress ?? `${LOOPBACK}:${ports.temporal}`,
    store: options.storeUrl === null ? localStoreUrl(ports.store) : withoutCredentials(options.storeUrl),
    gateway: `http://${LOOPBACK}:${ports.gateway}`,
  };
}

export function storePlan(options: StackOptions, ports: Ports): PartPlan {
  const { paths, tenant, maxMemoryBytes } = options;
  const passwords = () => storePasswords(paths.keys);
  return {
    name: 'store',
    address: `${LOOPBACK}:${ports.store}`,
    log: paths.log('store'),
    command: () => ({
      program: storeServer(options.environment),
      args: localStoreArguments({
        port: ports.store,
        directory: paths.store,
        keysDirectory: paths.keys,
        passwords: passwords(),
        tenants: [tenant],
        maxMemoryBytes,
      }),
      env: baseEnvironment(options),
    }),
    ready: (abandoned) =>
      awaitStore(
        { url: localStoreUrl(ports.store), user: 'control', password: passwords().control },
        SERVER_DEADLINE_MS,
        abandoned,
      ),
    graceMs: 10_000,
  };
}

export function temporalPlan(options: StackOptions, ports: Ports): PartPlan {
  const { paths, namespace } = options;
  const databaseFile = paths.temporalDatabase;
  return {
    name: 'temporal',
    address: `${LOOPBACK}:${ports.temporal}`,
    log: paths.log('temporal'),
    command: () => ({
      program: temporalCli(options.environment),
      args: [
        ...devServerArguments({ port: ports.temporal, uiPort: ports.temporalUi, databaseFile }),
        ...(namespace === 'default' ? [] : ['--namespace', namespace]),
      ],
      env: baseEnvironment(options),
    }),
    ready: (abandoned) => awaitTemporal(`${LOOPBACK}:${ports.temporal}`, namespace, SERVER_DEADLINE_MS, abandoned),
    graceMs: 10_000,
  };
}

/** The parts that are ours: gateway, control worker, gate worker. */
export function servicePlans(options: StackOptions, ports: Ports): readonly PartPlan[] {
  return [
    servicePlan(options, ports, 'gateway', ports.gateway),
    servicePlan(options, ports, 'control', ports.controlHealth),
    servicePlan(options, ports, 'gate', ports.gateHealth),
  ];
}

function servicePlan(
  options: StackOptions,
  ports: Ports,
  name: 'gateway' | 'control' | 'gate',
  httpPort: number,
): PartPlan {
  const { paths, tenant, namespace, logLevel } = options;
  const addresses = stackAddresses(options, ports);
  const settings: Partial<Record<SettingKey, string>> = {
    tenant,
    'state.dir': paths.root,
    'keys.dir': paths.keys,
    'repositories.dir': paths.repositories,
    'incoming.dir': paths.incoming,
    'temporal.address': addresses.temporal,
    'temporal.namespace': namespace,
    'store.url': addresses.store,
    'log.level': logLevel,
    ...(name === 'gateway'
      ? { 'gateway.host': LOOPBACK, 'gateway.port': String(httpPort), 'gateway.socket': paths.gatewaySocket }
      : { 'health.host': LOOPBACK, 'health.port': String(httpPort) }),
  };
  return {
    name,
    address: `${LOOPBACK}:${httpPort}`,
    log: paths.log(name),
    command: () => ({
      program: process.execPath,
      args: [modulePath('cli/main'), 'serve', name],
      env: {
        ...baseEnvironment(options),
        ...asEnvironment(settings),
        // Half a second of each start is compiling; Node checks what it kept against the source.
        NODE_COMPILE_CACHE: join(paths.cache, 'compiled'),
      },
    }),
    ready: (abandoned) => awaitReadyz(`http://${LOOPBACK}:${httpPort}/readyz`, PART_DEADLINE_MS, abandoned),
    graceMs: 15_000,
  };
}

/** @throws Error naming the last answer, after `deadlineMs` or when `abandoned` */
export async function awaitReadyz(url: string, deadlineMs: number, abandoned: () => boolean): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const refusal = await askReadyz(url);
    if (refusal === null) return;
    if (performance.now() >= deadline || abandoned()) throw new Error(refusal);
    await delay(30);
  }
}

/** `null` when it says that it is ready, otherwise why not. */
export async function askReadyz(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    const body = await response.text();
    return response.ok ? null : `${url} answers ${response.status}: ${body.slice(0, 300)}`;
  } catch {
    return `${url} does not answer`;
  }
}

function baseEnvironment({ environment, paths }: StackOptions): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // The operator's own git, npm and Temporal configuration is none of the stack's business.
  return { ...Object.fromEntries(passed), HOME: paths.root };
}

function asEnvironment(settings: Partial<Record<SettingKey, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [envName(key), value]));
}

function envName(key: string): string {
  const entry = Object.entries(SETTINGS).find(([name]) => name === key);
  return entry === undefined ? key : entry[1].env;
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
