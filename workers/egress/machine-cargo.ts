/** cargo: the home's configuration, followed where it replaces crates.io by another index. Only the sparse protocol can be filtered. */
import { join } from 'node:path';
import { readIfThere, readSections, variable, type Found, type Machine } from './machine-files.ts';

const DEFAULT = 'https://index.crates.io/';
const MAX_REPLACEMENTS = 8;

export async function cargoIndex(machine: Machine): Promise<Found> {
  const home = variable(machine, 'CARGO_HOME') ?? join(machine.home, '.cargo');
  const read = async (names: readonly string[]) => {
    const texts = await Promise.all(names.map((name) => readIfThere(join(home, name))));
    return readSections(texts.find((text) => text !== '') ?? '');
  };
  const configuration = await read(['config.toml', 'config']);
  const secrets = await read(['credentials.toml', 'credentials']);
  const name = replacement(configuration);
  const url = name === null ? null : indexOf(configuration, name);
  if (name === null || url?.startsWith('sparse+') !== true) return { url: DEFAULT, authorization: null };
  const token =
    variable(machine, `CARGO_REGISTRIES_${name.toUpperCase().replaceAll('-', '_')}_TOKEN`) ??
    secrets.get(`registries.${name}`)?.get('token') ??
    configuration.get(`registries.${name}`)?.get('token') ??
    null;
  return { url: url.slice('sparse+'.length), authorization: token };
}

/** Name of the source that stands in for crates.io; `null` when none does. */
function replacement(configuration: ReturnType<typeof readSections>): string | null {
  let name: string | null = null;
  for (let left = MAX_REPLACEMENTS; left > 0; left -= 1) {
    const next: string | undefined = configuration.get(`source.${name ?? 'crates-io'}`)?.get('replace-with');
    if (next === undefined) return name;
    name = next;
  }
  return name;
}

function indexOf(configuration: ReturnType<typeof readSections>, name: string): string | null {
  return (
    configuration.get(`source.${name}`)?.get('registry') ??
    configuration.get(`registries.${name}`)?.get('index') ??
    null
  );
}
