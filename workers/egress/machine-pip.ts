/** pip: variables, then the user's files, then the machine's. */
import { join } from 'node:path';
import { readIfThere, readSections, variable, type Found, type Machine } from './machine-files.ts';

const DEFAULT = 'https://pypi.org/simple/';

export async function pypiIndex(machine: Machine): Promise<Found> {
  const url = variable(machine, 'PIP_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX_URL') ?? (await configured(machine));
  return { url: url ?? DEFAULT, authorization: null };
}

async function configured(machine: Machine): Promise<string | null> {
  const home = variable(machine, 'XDG_CONFIG_HOME') ?? join(machine.home, '.config');
  const named = variable(machine, 'PIP_CONFIG_FILE');
  const files = [
    ...(named === null ? [] : [named]),
    join(home, 'pip', 'pip.conf'),
    join(machine.home, '.pip', 'pip.conf'),
    '/etc/xdg/pip/pip.conf',
    '/etc/pip.conf',
  ];
  for (const text of await Promise.all(files.map(readIfThere))) {
    const sections = readSections(text);
    for (const section of ['install', 'global']) {
      const url = sections.get(section)?.get('index-url') ?? sections.get(section)?.get('index_url');
      if (url !== undefined) return url;
    }
  }
  return null;
}
