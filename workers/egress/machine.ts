/**
 * Which server each logical registry is on this machine: read once from the configuration of the package managers' own
 * clients, files and variables, as they rank them. No client is run.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { cargoIndex } from './machine-cargo.ts';
import { goProxy } from './machine-go.ts';
import { npmRegistry } from './machine-npm.ts';
import { pypiIndex } from './machine-pip.ts';
import { readNetrc } from './netrc.ts';
import type { Upstream, Upstreams } from './settings.ts';
import { readIfThere, type Found, type Machine } from './machine-files.ts';

/** @throws `setting_invalid` for a configured address that is none */
export async function resolveUpstreams(environment: Machine['environment']): Promise<Upstreams> {
  const home = environment['HOME'] ?? homedir();
  const machine: Machine = { environment, home };
  const netrc = readNetrc(await readIfThere(environment['NETRC'] ?? join(home, '.netrc')));
  const [npm, index, go, pypi] = await Promise.all([
    npmRegistry(machine),
    cargoIndex(machine),
    goProxy(machine),
    pypiIndex(machine),
  ]);
  return {
    npm: upstream('npm', npm, {}),
    'crates-index': upstream('crates-index', index, {}),
    go: upstream('go', go, netrc),
    pypi: upstream('pypi', pypi, netrc),
  };
}

/** A credential may be part of the address, stand beside it, or be kept for its host. */
function upstream(name: string, found: Found, netrc: ReturnType<typeof readNetrc>): Upstream {
  const text = found.url.endsWith('/') ? found.url : `${found.url}/`;
  const base = URL.canParse(text) ? new URL(text) : null;
  if (base === null || (base.protocol !== 'https:' && base.protocol !== 'http:')) {
    throw portcullisError('setting_invalid', {
      name: `registry ${name} of this machine`,
      reason: 'is not an http URL',
    });
  }
  const { username, password } = base;
  base.username = '';
  base.password = '';
  const inUrl = username === '' ? null : basic(decodeURIComponent(username), decodeURIComponent(password));
  const kept = netrc[base.hostname];
  const ofHost = kept === undefined ? null : basic(kept.login, kept.password);
  return { base, authorization: found.authorization ?? inUrl ?? ofHost };
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
