/** Reading the configuration of package managers: files that may not be there, and the two forms they have. */
import { readFile } from 'node:fs/promises';

export interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** Where a registry is, and the `Authorization` that its client would send. */
export interface Found {
  readonly url: string;
  readonly authorization: string | null;
}

/** The text of a file; empty when it cannot be read. */
export async function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** `key = value` by section; keys before the first section are in `''`. Comments, quotes and table names as INI and TOML share them. */
export function readSections(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current = new Map<string, string>();
  sections.set('', current);
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const [, header] = /^\[([^\]]+)\]$/.exec(line) ?? [];
    if (header !== undefined) {
      const name = header.replace(/["']/g, '').trim();
      current = sections.get(name) ?? new Map<string, string>();
      sections.set(name, current);
      continue;
    }
    const [, key, value] = /^([^=#;\s][^=]*?)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined)
      current.set(key, value.replace(/^(["'])(.*)\1\s*(?:#.*)?$/, '$2').trim());
  }
  return sections;
}

/** The first of these variables that is set and not empty. */
export function variable({ environment }: Machine, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
  }
  return null;
}
