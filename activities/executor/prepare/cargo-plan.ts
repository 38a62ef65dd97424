/**
 * cargo: the tool reads the commit's manifests where they are, read-only, but runs outside the tree, so that no configuration
 * of the repository's is its own. What it fetches is held to the checksums of Cargo.lock.
 */
import { contentDigest } from '../../../schemas/digest.ts';
import { EGRESS_ORIGIN } from '../../../schemas/egress.ts';
import { readCargoLock } from './cargo-lock.ts';
import type { PlanPreparation } from './types.ts';

/** Written as the home's own configuration: a later run must find the packages under the same name of their source. */
const CONFIGURATION = `[source.crates-io]
replace-with = "registries"

[source.registries]
registry = "sparse+${EGRESS_ORIGIN}/crates-index/"

[net]
retry = 2
git-fetch-with-cli = false

[registry]
global-credential-providers = []
`;

export const planCargo: PlanPreparation = async (files, lockfile) => {
  const manifest = await files.read('Cargo.toml');
  if (manifest === null) return { kind: 'not_needed', reason: 'there is no Cargo.toml' };
  const text = lockfile === null ? null : await files.read(lockfile);
  if (lockfile === null || text === null) {
    return /^\[.*dependencies/m.test(manifest)
      ? { kind: 'refused', reason: 'Cargo.toml names dependencies and there is no Cargo.lock' }
      : { kind: 'not_needed', reason: 'there is no Cargo.lock' };
  }
  const lock = readCargoLock(text);
  if (lock.problem !== null) return { kind: 'refused', reason: `${lockfile}: ${lock.problem}` };
  if (!lock.hasPackages) return { kind: 'not_needed', reason: `${lockfile} has no package of a registry` };
  const manifests = await Promise.all(
    files.named('Cargo.toml').map(async (path) => ({ path, text: (await files.read(path)) ?? '' })),
  );
  return {
    kind: 'ready',
    inputs: [{ path: lockfile, text }, ...manifests].map(({ path, text: bytes }) => ({
      path,
      sha256: contentDigest(new TextEncoder().encode(bytes)),
    })),
    sees: 'commit',
    files: [],
    settings: [{ path: 'cargo/config.toml', text: CONFIGURATION }],
    chdir: '/home/run',
    places: [],
  };
};
