/** What every command is given: resolved settings, where the local stack lives, how to print, when to stop. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { shippedCommandPolicies } from '../activities/policy/load.ts';
import { shippedRoutingPolicies } from '../activities/policy/routing.ts';
import { PACKAGE_ROOT, isClone } from '../local/package-root.ts';
import { statePaths, type StatePaths } from '../local/state.ts';
import { portcullisError } from '../schemas/errors.ts';
import { SETTINGS, SETTING_KEYS, resolveSettings, type SettingKey, type Settings } from '../schemas/settings.ts';
import { createOutput, wantsColor, type Output } from './output.ts';

export interface CliContext {
  readonly settings: Settings;
  /** The local stack's directory, whether or not there is one. */
  readonly paths: StatePaths;
  readonly output: Output;
  /** Aborted at Ctrl-C or TERM; the reason is the signal's name. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What the flags that every command has come to. */
export interface CommonFlags {
  readonly json: boolean;
  readonly debug: boolean;
  readonly color: boolean;
}

/** Flags of the command and of the program above it. */
export function flagsOf(command: Command): Readonly<Record<string, unknown>> {
  return command.optsWithGlobals();
}

export function commonFlags(flags: Readonly<Record<string, unknown>>): CommonFlags {
  return { json: flags['json'] === true, debug: flags['debug'] === true, color: flags['color'] !== false };
}

export function commandOutput(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): Output {
  const { json, debug, color } = commonFlags(flags);
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  return createOutput({ json, debug, color: wantsColor(color, environment, isTerminal) });
}

/** @throws `setting_invalid` */
export function createContext(
  flags: Readonly<Record<string, unknown>>,
  environment: CliContext['environment'],
  signal: AbortSignal,
  output: Output,
): CliContext {
  const byKey = settingFlags(flags);
  // The file lies in the state directory unless named, and may not move the state directory: that would be a circle.
  const early = resolveSettings({ flags: byKey, environment, file: {} });
  const paths = statePaths(resolve(early.get('state.dir') ?? defaultStateDir()));
  const usualFile = join(paths.root, 'config.json');
  const file = readFile(early.get('config.file'), usualFile);
  const derived = derivedDefaults(paths, usualFile);
  const settings = resolveSettings({ flags: byKey, environment, file, derived });
  return { settings, paths, output, signal, environment };
}

/** A path that a derived default stands for. @throws `setting_invalid` for a setting that has none */
export function neededSetting({ settings }: Pick<CliContext, 'settings'>, key: SettingKey): string {
  const value = settings.get(key);
  if (value === null) throw portcullisError('setting_invalid', { name: key, reason: 'must be set for this' });
  return value;
}

function derivedDefaults(paths: StatePaths, configFile: string): Partial<Record<SettingKey, string>> {
  return {
    'state.dir': paths.root,
    'config.file': configFile,
    'credential.file': paths.operator,
    'keys.dir': paths.keys,
    'repositories.dir': paths.repositories,
    'incoming.dir': paths.incoming,
    'git.remotes': `${join(paths.root, 'remotes')}/`,
    'gateway.socket': paths.gatewaySocket,
    'policies.dir': shippedCommandPolicies(),
    'routing.dir': shippedRoutingPolicies(),
  };
}

/** In a clone its own `.portcullis`, so that it is found from everywhere; otherwise below the current directory. */
export function defaultStateDir(): string {
  return join(isClone() ? PACKAGE_ROOT : process.cwd(), '.portcullis');
}

function settingFlags(flags: Readonly<Record<string, unknown>>): Partial<Record<SettingKey, string>> {
  return Object.fromEntries(
    SETTING_KEYS.flatMap((key) => {
      const { flag } = SETTINGS[key];
      const value = flag === null ? undefined : flags[camelCase(flag)];
      return typeof value === 'string' ? [[key, value]] : [];
    }),
  );
}

function readFile(named: string | null, usual: string): Readonly<Record<string, unknown>> {
  if (named === null && !existsSync(usual)) return {};
  const file = named ?? usual;
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object');
    return Object.fromEntries(Object.entries(value));
  } catch (error) {
    const reason = `names ${file}, which cannot be read: ${error instanceof Error ? error.message : 'unknown'}`;
    throw portcullisError('setting_invalid', { name: 'config.file', reason }, error);
  }
}

/** commander names the value of `--state-dir` `stateDir`. */
function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
