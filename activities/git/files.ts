/** Files and changes as they are in commits of our own repositories. Nothing is ever checked out. */
import { contentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { CHANGED_PATHS_LIMIT, type ChangeAnswer, type FileAnswer } from '../../schemas/git/activities.ts';
import { checkedCommit } from '../../schemas/git/refs.ts';
import { requireCommit } from './commits.ts';
import { treeOf } from './repository.ts';
import { git } from './run.ts';

export interface FileAt {
  readonly commit: string;
  readonly path: string;
  readonly maxBytes: number;
}

export type ReadFile =
  { readonly state: 'present'; readonly bytes: Buffer } | { readonly state: Exclude<FileAnswer['state'], 'present'> };

const MAX_PATH_CHARS = 1024;

/**
 * The bytes of a file at a commit. A symbolic link, a directory and a submodule are no files: what they lead to is not in the commit.
 * @throws `not_found` when the commit is not there, `schema_invalid` for what is no path
 */
export async function readFileAt(gitDir: string, { commit, path, maxBytes }: FileAt): Promise<ReadFile> {
  await requireCommit(gitDir, commit);
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '-l', '--full-tree', commit, '--', checkedPath(path)];
  const listed = (await git({ gitDir, args })).toString('utf8');
  const entry = /^(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-)\t/.exec(listed);
  if (entry === null) return { state: 'missing' };
  const [, mode, , id, size] = entry;
  if ((mode !== '100644' && mode !== '100755') || id === undefined) return { state: 'no_file' };
  if (size === '0') return { state: 'empty' };
  if (Number(size) > maxBytes) return { state: 'too_large' };
  return { state: 'present', bytes: await git({ gitDir, args: ['cat-file', 'blob', id] }) };
}

/** The same without the bytes, for those who only pass it on. */
export async function describeFile(gitDir: string, file: FileAt): Promise<FileAnswer> {
  const read = await readFileAt(gitDir, file);
  if (read.state !== 'present') return read;
  return { state: 'present', digest: contentDigest(read.bytes), size: read.bytes.length };
}

/**
 * What changes from one commit to the other. The digest is over git's raw listing: modes, object ids and path of each change.
 * @throws `not_found`, `repository_invalid` for a listing beyond 16 MiB
 */
export async function describeChange(
  gitDir: string,
  base: string,
  head: string,
  within: readonly string[],
): Promise<ChangeAnswer> {
  await requireCommit(gitDir, base);
  await requireCommit(gitDir, head);
  const options = ['-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];
  const raw = await git({ gitDir, args: ['diff-tree', ...options, checkedCommit(base), checkedCommit(head)] });
  // Each change is its modes and ids, then its path, each ended by NUL.
  const paths = raw
    .toString('utf8')
    .split('\0')
    .filter((_, n) => n % 2 === 1);
  return {
    tree: await treeOf(gitDir, head),
    diffDigest: contentDigest(raw),
    paths: paths.slice(0, CHANGED_PATHS_LIMIT),
    pathCount: paths.length,
    within: paths.length > 0 && paths.every((path) => within.some((prefix) => isWithin(path, prefix))),
  };
}

function isWithin(path: string, prefix: string): boolean {
  return prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix;
}

function checkedPath(path: string): string {
  const isPath = path !== '' && path.length <= MAX_PATH_CHARS && path.isWellFormed() && !path.includes('\0');
  if (isPath && !path.startsWith('/') && !path.endsWith('/')) return path;
  throw portcullisError('schema_invalid', { path: 'path', reason: 'is not the path of a file' });
}
