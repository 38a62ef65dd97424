/** What a part of the stack gets to see of the operator's environment, and how its settings reach it. */
import { SETTINGS, type SettingKey } from '../../schemas/settings.ts';
import type { StackOptions } from './options.ts';

/** Variables of the operator's that every part may see: where programs are, how text and certificates are read. */
const PASSED_ON = ['PATH', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'NODE_EXTRA_CA_CERTS'] as const;

export function baseEnvironment({ environment, paths }: StackOptions): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // The operator's own git, npm and Temporal configuration is none of the stack's business.
  return { ...Object.fromEntries(passed), HOME: paths.root };
}

export function asEnvironment(settings: Partial<Record<SettingKey, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [envName(key), value]));
}

export function envName(key: string): string {
  const entry = Object.entries(SETTINGS).find(([name]) => name === key);
  return entry === undefined ? key : entry[1].env;
}

/** Settings that only a part reads, as the operator's environment has them. */
export function passedOn({ environment }: StackOptions, keys: readonly SettingKey[]): Record<string, string> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = environment[envName(key)];
      return value === undefined ? [] : [[envName(key), value]];
    }),
  );
}
