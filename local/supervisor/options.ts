/** What a local stack is started with: total, made once from the settings. */
import { resolve } from 'node:path';
import type { LogLevel } from '../../schemas/settings.ts';
import { LOG_LEVELS, type Settings } from '../../schemas/settings.ts';
import { ANY_PORTS, DEFAULT_PORTS, statePaths, type Ports, type StatePaths } from '../state.ts';

/** Tokens that are `null` are looked for in the key files. */
export interface OperatorsCoder {
  readonly url: string;
  readonly token: string | null;
  readonly chatToken: string | null;
  readonly breakGlassToken: string | null;
  readonly organization: string;
  readonly owner: string;
}

export interface StackOptions {
  readonly paths: StatePaths;
  readonly tenant: string;
  readonly namespace: string;
  /** A Temporal server of the operator's; `null` starts one. */
  readonly temporalAddress: string | null;
  /** A store of the operator's, as its administrator; `null` starts one. */
  readonly storeUrl: string | null;
  /** A Coder server of the operator's with the tokens for it; `null` starts a local one. */
  readonly coder: OperatorsCoder | null;
  readonly maxMemoryBytes: number;
  readonly logLevel: LogLevel;
  /** Ports to try first when the state directory remembers none. */
  readonly preferredPorts: Ports;
  /** What the parts may see of the operator's environment, by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function stackOptions(
  settings: Settings,
  stateDir: string,
  environment: StackOptions['environment'],
): StackOptions {
  return {
    paths: statePaths(resolve(stateDir)),
    tenant: settings.text('tenant'),
    namespace: settings.text('temporal.namespace'),
    temporalAddress: settings.get('temporal.address'),
    storeUrl: settings.get('store.url'),
    coder: operatorsCoder(settings),
    maxMemoryBytes: settings.number('store.maxmemory-mb') * 1024 * 1024,
    logLevel: logLevel(settings),
    preferredPorts:
      settings.text('local.ports') === 'any'
        ? ANY_PORTS
        : { ...DEFAULT_PORTS, gateway: settings.number('gateway.port') },
    environment,
  };
}

function operatorsCoder(settings: Settings): OperatorsCoder | null {
  const url = settings.get('coder.url');
  if (url === null) return null;
  return {
    url,
    token: settings.get('coder.token'),
    chatToken: settings.get('coder.chat-token'),
    breakGlassToken: settings.get('coder.break-glass-token'),
    organization: settings.text('coder.organization'),
    owner: settings.text('coder.owner'),
  };
}

/** The level that the settings name; they were checked when they were resolved. */
export function logLevel(settings: Settings): LogLevel {
  return LOG_LEVELS.find((level) => level === settings.text('log.level')) ?? 'info';
}
