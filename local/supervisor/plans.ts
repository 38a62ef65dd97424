/** How each part of the local stack is started and when it counts as ready. */
import { join } from 'node:path';
import type { SettingKey } from '../../schemas/settings.ts';
import { storeServer, temporalCli } from '../binaries.ts';
import { storePasswords } from '../keys.ts';
import { modulePath } from '../package-root.ts';
import { LOOPBACK } from '../ports.ts';
import type { Ports } from '../state.ts';
import { awaitStore, localStoreArguments, localStoreUrl } from '../store.ts';
import { awaitTemporal, devServerArguments } from '../temporal.ts';
import { coderSettings } from './coder-plan.ts';
import { asEnvironment, baseEnvironment, passedOn } from './environment.ts';
import type { StackOptions } from './options.ts';
import type { PartPlan } from './part.ts';
import { awaitReadyz } from './readyz.ts';

const SERVER_DEADLINE_MS = 60_000;
const PART_DEADLINE_MS = 60_000;

/** Addresses at which the parts find each other. */
export interface StackAddresses {
  readonly temporal: string;
  /** Without credentials. */
  readonly store: string;
  readonly gateway: string;
  readonly egress: string;
}

export function stackAddresses(options: StackOptions, ports: Ports): StackAddresses {
  return {
    temporal: options.temporalAddress ?? `${LOOPBACK}:${ports.temporal}`,
    store: options.storeUrl === null ? localStoreUrl(ports.store) : withoutCredentials(options.storeUrl),
    gateway: `http://${LOOPBACK}:${ports.gateway}`,
    egress: `http://${LOOPBACK}:${ports.egress}`,
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

/** The parts that are ours: gateway, control worker, gate worker, egress. */
export function servicePlans(options: StackOptions, ports: Ports): readonly PartPlan[] {
  return [
    servicePlan(options, ports, 'gateway', ports.gateway),
    servicePlan(options, ports, 'control', ports.controlHealth),
    servicePlan(options, ports, 'gate', ports.gateHealth),
    egressPlan(options, ports),
  ];
}

/**
 * It alone sees where the operator's own clients find their registries, so it alone gets what they are configured by: the
 * operator's home and the variables that they read. It alone is told where the keys of models are.
 */
function egressPlan(options: StackOptions, ports: Ports): PartPlan {
  const { paths, logLevel, environment } = options;
  const address = `${LOOPBACK}:${ports.egress}`;
  return {
    name: 'egress',
    address,
    log: paths.log('egress'),
    command: () => ({
      program: process.execPath,
      args: [modulePath('cli/main'), 'serve', 'egress'],
      env: {
        ...baseEnvironment(options),
        ...registryEnvironment(environment),
        // The registries are where the operator's clients find them, so they are believed by what this machine believes.
        NODE_USE_SYSTEM_CA: '1',
        ...asEnvironment({
          'state.dir': paths.root,
          'keys.dir': paths.keys,
          'log.level': logLevel,
          'egress.host': LOOPBACK,
          'egress.port': String(ports.egress),
        }),
        ...passedOn(options, ['egress.models']),
        NODE_COMPILE_CACHE: join(paths.cache, 'compiled'),
      },
    }),
    ready: (abandoned) => awaitReadyz(`http://${address}/readyz`, PART_DEADLINE_MS, abandoned),
    graceMs: 5_000,
  };
}

const REGISTRY_VARIABLES =
  /^(?:HOME|XDG_CONFIG_HOME|NETRC|GOPROXY|GOENV|CARGO_HOME|CARGO_REGISTR.*|PIP_(?:INDEX_URL|CONFIG_FILE)|UV_(?:DEFAULT_INDEX|INDEX_URL)|npm_config_(?:registry|userconfig|globalconfig)|NPM_CONFIG_(?:REGISTRY|USERCONFIG|GLOBALCONFIG)|NPM_TOKEN|NODE_AUTH_TOKEN|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)$/;

function registryEnvironment(environment: StackOptions['environment']): Record<string, string> {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && REGISTRY_VARIABLES.test(name) ? [[name, value] as const] : [],
  );
  const throughProxy = entries.some(([name]) => /^https?_proxy$/i.test(name));
  return { ...Object.fromEntries(entries), ...(throughProxy ? { NODE_USE_ENV_PROXY: '1' } : {}) };
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
      ? {
          'gateway.host': LOOPBACK,
          'gateway.port': String(httpPort),
          'gateway.socket': paths.gatewaySocket,
          'egress.url': addresses.egress,
        }
      : { 'health.host': LOOPBACK, 'health.port': String(httpPort) }),
    ...(name === 'control' ? coderSettings(options, ports) : {}),
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
        ...(name === 'control' ? passedOn(options, ['workspace.stale-secs', 'reconcile.secs']) : {}),
        ...(name === 'gateway' ? passedOn(options, ['import.max-mb']) : {}),
        // Half a second of each start is compiling; Node checks what it kept against the source.
        NODE_COMPILE_CACHE: join(paths.cache, 'compiled'),
      },
    }),
    ready: (abandoned) => awaitReadyz(`http://${LOOPBACK}:${httpPort}/readyz`, PART_DEADLINE_MS, abandoned),
    graceMs: 15_000,
  };
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
