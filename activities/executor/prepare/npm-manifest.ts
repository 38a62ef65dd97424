/** A package.json as a preparation hands it to npm or pnpm: what says which packages are wanted, and nothing that runs. */

const KEPT = [
  'name',
  'version',
  'private',
  'type',
  'bin',
  'engines',
  'os',
  'cpu',
  'workspaces',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'dependenciesMeta',
  'bundleDependencies',
  'bundledDependencies',
  'overrides',
  'resolutions',
] as const;

/** Of pnpm's own table: none of what it builds, patches or runs. */
const KEPT_OF_PNPM = ['overrides', 'packageExtensions', 'peerDependencyRules', 'ignoredOptionalDependencies'] as const;

type Manifest = Readonly<Record<string, unknown>>;

export function manifestForNpm(manifest: Manifest): Manifest {
  const { pnpm } = manifest;
  const own =
    typeof pnpm === 'object' && pnpm !== null ? only(Object.fromEntries(Object.entries(pnpm)), KEPT_OF_PNPM) : {};
  return { ...only(manifest, KEPT), ...(Object.keys(own).length === 0 ? {} : { pnpm: own }) };
}

/** Whether its tests may need a package that somebody must install. */
export function namesDependencies(manifest: Manifest): boolean {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].some((kind) => {
    const named = manifest[kind];
    return typeof named === 'object' && named !== null && Object.keys(named).length > 0;
  });
}

function only(from: Manifest, names: readonly string[]): Manifest {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])));
}
