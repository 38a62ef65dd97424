/** A pnpm-workspace.yaml as a preparation hands it on: what decides about versions and layout, and no other setting. */

const KEPT: readonly string[] = [
  'packages',
  'catalog',
  'catalogs',
  'overrides',
  'packageExtensions',
  'peerDependencyRules',
  'ignoredOptionalDependencies',
  'autoInstallPeers',
  'excludeLinksFromLockfile',
  'dedupePeerDependents',
  'injectWorkspacePackages',
  'linkWorkspacePackages',
  'nodeLinker',
  'hoist',
  'hoistPattern',
  'publicHoistPattern',
  'shamefullyHoist',
];

/** Cut at the keys that stand at the beginning of a line: in a YAML mapping nothing else does. */
export function workspaceForPnpm(text: string): string {
  const kept: string[] = [];
  let keeps = false;
  for (const line of text.split(/\r?\n/)) {
    const [, key] = /^(?:["']?)([A-Za-z]+)(?:["']?)\s*:/.exec(line) ?? [];
    if (key !== undefined) keeps = KEPT.includes(key);
    else if (/^[^\s#-]/.test(line)) keeps = false;
    if (keeps) kept.push(line);
  }
  return `${kept.join('\n')}\n`;
}
