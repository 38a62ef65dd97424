/**
 * npm: the tool sees a lockfile and manifests that we wrote, never the repository. Each package is named by the registry's own
 * path and held to the digest that the commit's lockfile has for it, so where the lockfile says it lies is no matter.
 */
import { EGRESS_ORIGIN } from '../../../schemas/egress.ts';
import { contentDigest } from '../../../schemas/digest.ts';
import { relativePathProblem } from '../../../policies/commands/limits.ts';
import { manifestForNpm, namesDependencies } from './npm-manifest.ts';
import type { CommitFiles, PlannedFile, PlanPreparation, PreparePlan } from './types.ts';

type Entries = Record<string, unknown>;

const MAX_PACKAGES = 20_000;
const NAME = /^(?:@[A-Za-z0-9~_-][A-Za-z0-9~._-]*\/)?[A-Za-z0-9~_-][A-Za-z0-9~._-]*$/;
const VERSION = /^[0-9][0-9A-Za-z.+-]{0,127}$/;
/** SHA-1 can be forged, so a package that has nothing else is held to nothing. */
const INTEGRITY = /^(?:sha(?:256|384|512)-[A-Za-z0-9+/]+={0,2}(?: |$))+$/;

export const planNpm: PlanPreparation = async (files, lockfile) => {
  const manifest = parse(await files.read('package.json'));
  if (manifest === null) return { kind: 'not_needed', reason: 'there is no package.json' };
  if (lockfile === null) {
    return namesDependencies(manifest)
      ? { kind: 'refused', reason: 'package.json names dependencies and there is no package-lock.json' }
      : { kind: 'not_needed', reason: 'package.json names no dependencies' };
  }
  const text = await files.read(lockfile);
  const lock = parse(text);
  if (text === null || lock === null) return refused(`${lockfile} is not one JSON object`);
  const { packages } = lock;
  if (!isRecord(packages)) return refused(`${lockfile} has no packages: it must be of lockfileVersion 2 or 3`);
  const paths = Object.keys(packages);
  if (paths.length > MAX_PACKAGES) return refused(`${lockfile} names more than ${MAX_PACKAGES} packages`);
  const written: Entries = {};
  const members: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    const ruling = isRecord(entry) ? lockEntry(path, entry, packages) : 'it is no object';
    if (typeof ruling === 'string') return refused(`${lockfile}, ${shown(path)}: ${ruling}`);
    written[path] = ruling;
    if (path !== '' && !path.includes('node_modules/')) members.push(path);
  }
  const { name, version } = lock;
  const ours = { name, version, lockfileVersion: 3, requires: true, packages: written };
  return withManifests(files, members, [{ path: lockfile, text: JSON.stringify(ours) }], { lockfile, text });
};

/** Adds the manifests of the root and of each member. @throws nothing; a member without one is refused */
async function withManifests(
  files: CommitFiles,
  members: readonly string[],
  written: readonly PlannedFile[],
  lock: { readonly lockfile: string; readonly text: string },
): Promise<PreparePlan> {
  const inputs = [{ path: lock.lockfile, sha256: digestOfText(lock.text) }];
  const manifests: PlannedFile[] = [];
  for (const member of ['', ...members]) {
    const path = member === '' ? 'package.json' : `${member}/package.json`;
    const text = await files.read(path);
    const manifest = parse(text);
    if (text === null || manifest === null) return refused(`${shown(path)} is missing or is not one JSON object`);
    inputs.push({ path, sha256: digestOfText(text) });
    manifests.push({ path, text: JSON.stringify(manifestForNpm(manifest)) });
  }
  return {
    kind: 'ready',
    inputs,
    sees: 'files',
    files: [...written, ...manifests],
    settings: [],
    chdir: '/work',
    places: ['', ...members],
  };
}

/** The entry as we write it, or why it is refused. */
function lockEntry(path: string, entry: Entries, all: Entries): Entries | string {
  const { scripts: _, resolved: __, ...rest } = entry;
  if (path === '') return rest;
  const installed = path.lastIndexOf('node_modules/');
  const inside = relativePathProblem(path);
  if (inside !== null) return inside;
  if (installed < 0) return rest;
  if (entry['link'] === true) {
    const { resolved } = entry;
    const isMember =
      typeof resolved === 'string' && Object.hasOwn(all, resolved) && !resolved.includes('node_modules/');
    return isMember ? { ...rest, resolved } : 'it links to something outside the workspaces';
  }
  // It comes in the archive of a package that is held to a digest. What says so and does not would be fetched, held to none.
  if (entry['inBundle'] === true && entry['integrity'] === undefined) {
    return comesInAnArchive(path, all) ? rest : 'it says that it is bundled, and nothing bundles it';
  }
  const { name = path.slice(installed + 'node_modules/'.length), version, integrity, resolved } = entry;
  if (typeof name !== 'string' || !NAME.test(name)) return 'its name is none';
  if (typeof version !== 'string' || !VERSION.test(version)) return 'its version is none of a registry';
  if (resolved !== undefined && !isRegistryUrl(resolved))
    return `it comes from ${shown(resolved)}, not from a registry`;
  if (typeof integrity !== 'string' || !INTEGRITY.test(integrity))
    return 'it has no SHA-256, SHA-384 or SHA-512 digest';
  return { ...rest, resolved: tarballUrl(name, version) };
}

/** Whether a package around it is one of a registry. */
function comesInAnArchive(path: string, all: Entries): boolean {
  const end = path.lastIndexOf('/node_modules/');
  if (end < 0) return false;
  const parent = path.slice(0, end);
  const around = all[parent];
  // A member of the workspace comes with the commit, whatever its entry says.
  if (!isRecord(around) || !parent.includes('node_modules/') || around['link'] === true) return false;
  return typeof around['integrity'] === 'string' || (around['inBundle'] === true && comesInAnArchive(parent, all));
}

/** By the form that registries share. The server in it is not asked, whichever it is. */
function isRegistryUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^/?#]+\/[^?#]+\/-\/[^?#]+\.tgz$/.test(value);
}

export function tarballUrl(name: string, version: string): string {
  return `${EGRESS_ORIGIN}/npm/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;
}

function digestOfText(text: string) {
  return contentDigest(new TextEncoder().encode(text));
}

function refused(reason: string): PreparePlan {
  return { kind: 'refused', reason };
}

function parse(text: string | null): Entries | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value of the commit's, safe to print. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value;
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);
}
