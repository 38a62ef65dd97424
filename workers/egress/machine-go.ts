/** go: the variable, then the file that `go env -w` writes. The first proxy of a list is used; `direct` is nothing for a proxy. */
import { join } from 'node:path';
import { readIfThere, readSections, variable, type Found, type Machine } from './machine-files.ts';

const DEFAULT = 'https://proxy.golang.org/';

export async function goProxy(machine: Machine): Promise<Found> {
  const list = variable(machine, 'GOPROXY') ?? (await configured(machine)) ?? DEFAULT;
  const url = list.split(/[,|]/).find((entry) => /^https?:\/\//.test(entry.trim()));
  return { url: url?.trim() ?? DEFAULT, authorization: null };
}

async function configured(machine: Machine): Promise<string | null> {
  const home = variable(machine, 'XDG_CONFIG_HOME') ?? join(machine.home, '.config');
  const text = await readIfThere(variable(machine, 'GOENV') ?? join(home, 'go', 'env'));
  return readSections(text).get('')?.get('GOPROXY') ?? null;
}
