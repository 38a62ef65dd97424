/** npm: variables, then the user's `.npmrc`, then the machine's. */
import { join } from 'node:path';
import { readIfThere, readSections, variable, type Found, type Machine } from './machine-files.ts';

const DEFAULT = 'https://registry.npmjs.org/';
const GLOBAL = ['/usr/local/etc/npmrc', '/usr/etc/npmrc', '/etc/npmrc'] as const;

export async function npmRegistry(machine: Machine): Promise<Found> {
  const user = variable(machine, 'npm_config_userconfig', 'NPM_CONFIG_USERCONFIG') ?? join(machine.home, '.npmrc');
  const named = variable(machine, 'npm_config_globalconfig', 'NPM_CONFIG_GLOBALCONFIG');
  const texts = await Promise.all([user, ...(named === null ? GLOBAL : [named])].map(readIfThere));
  const files = texts.map((text) => readSections(text).get('') ?? new Map<string, string>());
  const setting = (key: string): string | null => {
    const value = files.map((file) => file.get(key)).find((found) => found !== undefined) ?? null;
    // npm fills variables in.
    return (
      value?.replace(/\$\{([^}]+)\}/g, (_, name: string) => machine.environment[name.replace(/\?$/, '')] ?? '') ?? null
    );
  };
  const url = variable(machine, 'npm_config_registry', 'NPM_CONFIG_REGISTRY') ?? setting('registry') ?? DEFAULT;
  return { url, authorization: authorizationOf(url, setting) };
}

/** By the longest prefix of the registry's address that something is kept for. */
function authorizationOf(url: string, setting: (key: string) => string | null): string | null {
  if (!URL.canParse(url)) return null;
  const { host, pathname } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  for (let length = segments.length; length >= 0; length -= 1) {
    const place = `//${[host, ...segments.slice(0, length)].join('/')}/`;
    const token = setting(`${place}:_authToken`);
    if (token !== null) return `Bearer ${token}`;
    const both = setting(`${place}:_auth`);
    if (both !== null) return `Basic ${both}`;
    const [user, password] = [setting(`${place}:username`), setting(`${place}:_password`)];
    if (user !== null && password !== null) {
      return `Basic ${Buffer.from(`${user}:${Buffer.from(password, 'base64').toString()}`).toString('base64')}`;
    }
  }
  return null;
}
