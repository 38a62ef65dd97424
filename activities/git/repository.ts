/**
 * The control plane's own bare repositories, one a pair. What is pinned is read from here and nowhere else; workspaces fetch
 * from here through the gateway, and producers push their branch.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedCommit } from '../../schemas/git/refs.ts';
import { checkedName } from '../../schemas/names.ts';
import type { DefinitionDigest } from '../../schemas/verify/result.ts';
import { readBundleHeader, takeInPack } from './pack.ts';
import { git, gitSucceeds } from './run.ts';
import { completeHistory } from './shallow.ts';

export interface PairRepository {
  /** The bare repository's directory. */
  readonly path: string;
  /** Takes in the commit from a bundle file, checked object by object. @throws `repository_invalid` */
  importBundle(bundle: string, commit: string): Promise<void>;
  hasCommit(commit: string): Promise<boolean>;
  /** The git tree of a commit: what `tree_before` is. @throws `not_found` */
  treeOf(commit: string): Promise<string>;
  /** Content digests of these files at both commits; `null` where a file is not there. */
  definitions(paths: readonly string[], base: string | null, head: string): Promise<readonly DefinitionDigest[]>;
}

/** Where the repository of a pair is. The gateway serves the same path. */
export function repositoryPath(root: string, tenant: string, pair: string): string {
  return join(root, checkedName('tenant', tenant), `${checkedName('pair', pair)}.git`);
}

export function pairRepository(root: string, tenant: string, pair: string): PairRepository {
  const path = repositoryPath(root, tenant, pair);
  return {
    path,
    importBundle: (bundle, commit) => importBundle(path, bundle, commit),
    hasCommit: (commit) => hasCommit(path, commit),
    treeOf: (commit) => treeOf(path, commit),
    definitions: (paths, base, head) => definitions(path, paths, base, head),
  };
}

async function importBundle(gitDir: string, bundle: string, commit: string): Promise<void> {
  checkedCommit(commit);
  await ensureRepository(gitDir, commit);
  const header = await readBundleHeader(bundle);
  if (!header.tips.has(commit)) {
    throw portcullisError('repository_invalid', {
      path: 'the bundle',
      reason: `it does not hold the commit ${commit}`,
    });
  }
  await takeInPack(gitDir, bundle, header.packOffset);
  await completeHistory(gitDir, commit);
  await git({ gitDir, args: ['update-ref', `refs/portcullis/imports/${commit}`, commit] });
}

/** Makes the bare repository when it is not there, of the kind that this commit is of; whether it made it. */
export async function ensureRepository(gitDir: string, commit: string): Promise<boolean> {
  if (await isDirectory(join(gitDir, 'objects'))) return false;
  await mkdir(dirname(gitDir), { recursive: true, mode: 0o700 });
  const format = commit.length === 64 ? 'sha256' : 'sha1';
  await git({ gitDir, args: ['init', '--quiet', '--bare', `--object-format=${format}`, gitDir] });
  // A pinned commit is asked for by its id; the repository is one pair's, and only that pair reads it.
  for (const [name, value] of [
    ['uploadpack.allowAnySHA1InWant', 'true'],
    ['http.receivepack', 'false'],
    ['receive.denyDeletes', 'true'],
  ] as const) {
    await git({ gitDir, args: ['config', name, value] });
  }
  return true;
}

export async function hasCommit(gitDir: string, commit: string): Promise<boolean> {
  return await gitSucceeds({ gitDir, args: ['cat-file', '-e', `${checkedCommit(commit)}^{commit}`] });
}

export async function treeOf(gitDir: string, commit: string): Promise<string> {
  try {
    const out = await git({ gitDir, args: ['rev-parse', '--verify', '--quiet', `${checkedCommit(commit)}^{tree}`] });
    return out.toString('utf8').trim();
  } catch (error) {
    throw portcullisError('not_found', { what: 'commit', id: commit }, error);
  }
}

async function definitions(
  gitDir: string,
  paths: readonly string[],
  base: string | null,
  head: string,
): Promise<readonly DefinitionDigest[]> {
  if (paths.length === 0) return [];
  const [atHead, atBase] = await Promise.all([
    contentsAt(gitDir, head, paths),
    base === null ? new Map<string, Buffer>() : contentsAt(gitDir, base, paths),
  ]);
  return paths.map((path) => ({ path, base_digest: digestAt(atBase, path), head_digest: digestAt(atHead, path) }));
}

function digestAt(contents: ReadonlyMap<string, Buffer>, path: string) {
  const bytes = contents.get(path);
  return bytes === undefined ? null : contentDigest(bytes);
}

/** The bytes of those of the paths that are files at the commit, read in one go. */
async function contentsAt(gitDir: string, commit: string, paths: readonly string[]): Promise<Map<string, Buffer>> {
  const wanted = paths.map((path) => `${checkedCommit(commit)}:${path}`);
  const out = await git({ gitDir, args: ['cat-file', '--batch'], input: `${wanted.join('\n')}\n` });
  const contents = new Map<string, Buffer>();
  let at = 0;
  for (const path of paths) {
    const end = out.indexOf(0x0a, at);
    const header = out.toString('utf8', at, end);
    at = end + 1;
    const match = /^[0-9a-f]+ (\w+) (\d+)$/.exec(header);
    if (match === null) continue; // "… missing": git prints no content for it
    const size = Number(match[2]);
    if (match[1] === 'blob') contents.set(path, out.subarray(at, at + size));
    at += size + 1;
  }
  return contents;
}

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
