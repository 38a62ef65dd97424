/**
 * Requirements out of a uv.lock: the project's dependencies and its development groups, each with its digests and the marker
 * under which it is wanted. Reads the form that uv writes and refuses any other.
 */
export interface LockedRequirements {
  /** Lines as pip reads them; empty when `problem` says why there are none. */
  readonly lines: readonly string[];
  readonly problem: string | null;
  /** The project itself. */
  readonly project: { readonly name: string; readonly version: string } | null;
}

interface Edge {
  readonly name: string;
  readonly version: string | null;
  readonly marker: string | null;
  readonly extras: readonly string[];
}

interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly dependencies: readonly Edge[];
  /** By group and by extra. */
  readonly groups: ReadonlyMap<string, readonly Edge[]>;
  readonly extras: ReadonlyMap<string, readonly Edge[]>;
  readonly hashes: readonly string[];
}

/** Groups and extras in which a project keeps what its tests need. */
const TEST_GROUPS = /^(?:dev|tests?|testing|pytest)$/;
const MAX_VISITS = 20_000;
const MARKER = /^[A-Za-z0-9_.'" <>=!()~,+*-]+$/;

export function requirementsOf(lock: string): LockedRequirements {
  const packages = lock
    .split(/^\[\[package\]\]$/m)
    .slice(1)
    .map(readPackage);
  const root = packages.find(({ source }) => /^(?:editable|virtual) = "\."/.test(source));
  if (root === undefined) return refused('uv.lock has no project of this tree');
  const wanted = new Map<LockedPackage, Set<string>>();
  const groups = [...root.groups, ...root.extras].filter(([name]) => TEST_GROUPS.test(name));
  const open = [...root.dependencies, ...groups.flatMap(([, edges]) => edges)].map((edge) => ({ edge, under: '' }));
  let visits = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    visits += 1;
    if (visits > MAX_VISITS) return refused('uv.lock has too many dependencies');
    const { edge, under } = next;
    const found = packages.find(({ name, version }) => name === edge.name && (edge.version ?? version) === version);
    if (found === undefined) return refused(`uv.lock does not have ${edge.name}`);
    if (found === root) continue;
    if (!found.source.startsWith('registry = ')) return refused(`${found.name} in uv.lock is of no registry`);
    const marker = both(under, edge.marker ?? '');
    if (marker !== '' && !MARKER.test(marker)) return refused(`${found.name} in uv.lock has a marker that is none`);
    const known = wanted.get(found) ?? new Set<string>();
    if (known.has('') || known.has(marker)) continue;
    wanted.set(found, marker === '' ? new Set(['']) : known.add(marker));
    const more = edge.extras.flatMap((extra) => found.extras.get(extra) ?? []);
    open.push(...[...found.dependencies, ...more].map((one) => ({ edge: one, under: marker })));
  }
  return { ...linesOf(wanted), project: { name: root.name, version: root.version } };
}

function linesOf(wanted: ReadonlyMap<LockedPackage, ReadonlySet<string>>): LockedRequirements {
  const lines: string[] = [];
  for (const [{ name, version, hashes }, markers] of wanted) {
    if (hashes.length === 0) return refused(`${name} in uv.lock has no digest`);
    const marker = markers.has('') ? '' : ` ; ${[...markers].map((one) => `(${one})`).join(' or ')}`;
    lines.push(`${name}==${version}${marker} ${hashes.map((hash) => `--hash=${hash}`).join(' ')}`);
  }
  return { lines: lines.sort(), problem: null, project: null };
}

function both(a: string, b: string): string {
  if (a === '' || a === b) return b;
  return b === '' ? a : `(${a}) and (${b})`;
}

function refused(problem: string): LockedRequirements {
  return { lines: [], problem, project: null };
}

function readPackage(text: string): LockedPackage {
  const [own = '', ...tables] = text.split(/^(?=\[package\.)/m);
  const value = (key: string) => new RegExp(`^${key} = "([^"]*)"$`, 'm').exec(own)?.[1] ?? '';
  const tableOf = (name: string) => tables.find((table) => table.startsWith(`[package.${name}]\n`)) ?? '';
  return {
    name: value('name'),
    version: value('version'),
    source: /^source = \{ (.*) \}$/m.exec(own)?.[1] ?? '',
    dependencies: edgesOf(arrayOf(own, 'dependencies')),
    groups: groupsOf(tableOf('dev-dependencies')),
    extras: groupsOf(tableOf('optional-dependencies')),
    hashes: [...own.matchAll(/\bhash = "(sha256:[0-9a-f]{64})"/g)].map(([, hash = '']) => hash),
  };
}

function groupsOf(table: string): ReadonlyMap<string, readonly Edge[]> {
  const names = [...table.matchAll(/^([A-Za-z0-9._-]+) = \[/gm)].map(([, name = '']) => name);
  return new Map(names.map((name) => [name, edgesOf(arrayOf(table, name))]));
}

/** The text of an array, on one line or on several that end with a bracket of their own. */
function arrayOf(text: string, key: string): string {
  const start = text.search(new RegExp(`^${key.replaceAll('.', '\\.')} = \\[`, 'm'));
  if (start < 0) return '';
  const [line = ''] = text.slice(start).split('\n');
  return line.endsWith('[') ? text.slice(start, text.indexOf('\n]', start)) : line;
}

function edgesOf(array: string): readonly Edge[] {
  return [...array.matchAll(/\{ name = "([^"]+)"((?:[^{}"]|"[^"]*"|\{[^{}]*\})*) \}/g)].map(
    ([, name = '', rest = '']) => ({
      name,
      version: /\bversion = "([^"]+)"/.exec(rest)?.[1] ?? null,
      marker: /\bmarker = "([^"]+)"/.exec(rest)?.[1] ?? null,
      extras: [...(/\bextra = \[([^\]]*)\]/.exec(rest)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(
        ([, extra = '']) => extra,
      ),
    }),
  );
}
