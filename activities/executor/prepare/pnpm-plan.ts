/** pnpm: as npm, with its own lockfile, which names packages by version and digest and not by where they lie. */
import { contentDigest } from '../../../schemas/digest.ts';
import { relativePathProblem } from '../../../policies/commands/limits.ts';
import { manifestForNpm, namesDependencies } from './npm-manifest.ts';
import { pnpmLockProblem } from './pnpm-lock.ts';
import { workspaceForPnpm } from './pnpm-workspace.ts';
import type { PlanPreparation, PlannedFile, PreparePlan } from './types.ts';

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
  const problem = pnpmLockProblem(lock);
  if (problem !== null) return refused(`${lockfile}, ${problem}`);
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
