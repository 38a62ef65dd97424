/** pnpm: as npm, with its own lockfile, which names packages by version and digest and not by where they lie. */
import { contentDigest } from '../../../schemas/digest.ts';
import { relativePathProblem } from '../../../policies/commands/limits.ts';
import { manifestForNpm, namesDependencies } from './npm-manifest.ts';
import { workspaceForPnpm } from './pnpm-workspace.ts';
import type { PlanPreparation, PlannedFile, PreparePlan } from './types.ts';

const INTEGRITY = /^ {4}resolution: \{integrity: sha(?:256|384|512)-[A-Za-z0-9+/]+={0,2}\}$/;
const OTHER_SOURCE = /\b(?:tarball|repo|commit|directory|type|path):/;

export const planPnpm: PlanPreparation = async (files, lockfile) => {
  const manifestText = await files.read('package.json');
  const manifest = parse(manifestText);
  if (manifest === null) return { kind: 'not_needed', reason: 'there is no package.json' };
  const lock = lockfile === null ? null : await files.read(lockfile);
  if (lockfile === null || lock === null) {
    return namesDependencies(manifest)
      ? { kind: 'refused', reason: 'package.json names dependencies and there is no pnpm-lock.yaml' }
      : { kind: 'not_needed', reason: 'package.json names no dependencies' };
  }
  const problem = lockProblem(lockfile, lock);
  if (problem !== null) return refused(problem);
  const written: PlannedFile[] = [{ path: lockfile, text: lock }];
  const inputs = [{ path: lockfile, text: lock }];
  const workspace = await files.read('pnpm-workspace.yaml');
  if (workspace !== null) {
    inputs.push({ path: 'pnpm-workspace.yaml', text: workspace });
    written.push({ path: 'pnpm-workspace.yaml', text: workspaceForPnpm(workspace) });
  }
  const members = importersOf(lock);
  for (const member of members) {
    if (member !== '' && relativePathProblem(member) !== null)
      return refused(`${lockfile} has a workspace outside the tree`);
    const path = member === '' ? 'package.json' : `${member}/package.json`;
    const text = await files.read(path);
    const read = parse(text);
    if (text === null || read === null) return refused(`${path} is missing or is not one JSON object`);
    inputs.push({ path, text });
    written.push({ path, text: JSON.stringify(manifestForNpm(read)) });
  }
  return {
    kind: 'ready',
    inputs: inputs.map(({ path, text }) => ({ path, sha256: contentDigest(new TextEncoder().encode(text)) })),
    sees: 'files',
    files: written,
    settings: [],
    chdir: '/work',
    places: members,
  };
};

/** Every resolution must be of a digest alone: anything else names a place. */
function lockProblem(lockfile: string, lock: string): string | null {
  for (const [index, line] of lock.split(/\r?\n/).entries()) {
    const isResolution = /\bresolution["']?\s*:/.test(line);
    if (isResolution && !INTEGRITY.test(line)) {
      const from = OTHER_SOURCE.test(line) ? 'comes from outside a registry' : 'has no digest';
      return `${lockfile}, line ${index + 1}: a package ${from}`;
    }
    if (/^(?:patchedDependencies|pnpmfileChecksum)\s*:/.test(line)) {
      return `${lockfile}, line ${index + 1}: ${line.slice(0, line.indexOf(':'))} would run or change what is installed`;
    }
  }
  return null;
}

/** Directories of the workspace's members; `''` is the root. */
function importersOf(lock: string): readonly string[] {
  const lines = lock.split(/\r?\n/);
  const start = lines.indexOf('importers:');
  if (start < 0) return [''];
  const members: string[] = [];
  for (const line of lines.slice(start + 1)) {
    if (/^\S/.test(line)) break;
    const [, name] = /^ {2}(\S.*):(?: \{\})?$/.exec(line) ?? [];
    if (name !== undefined) members.push(name.replace(/^(['"])(.*)\1$/, '$2'));
  }
  return members.map((member) => (member === '.' ? '' : member));
}

function refused(reason: string): PreparePlan {
  return { kind: 'refused', reason };
}

function parse(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : null;
  } catch {
    return null;
  }
}
