/**
 * Finds the git directory of a checkout that somebody else can write, and which directories git needs to see for it. A
 * directory outside the checkout is shown only when it names the checkout in turn, or holds git objects of the same owner:
 * otherwise a hostile `.git` file could have any directory of this machine shown to what runs in the sandbox.
 */
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { findLenders, identityOf, UnusableLender, type Lender } from './lenders.ts';

export interface GitDirectories {
  /** Root of the checkout, or the bare repository; links resolved. */
  readonly checkout: string;
  readonly gitDir: string;
  /** What git has to see, each an absolute path without links: the git directory and the one that holds its objects. */
  readonly visible: readonly string[];
  /** Device and inode of each of those, as they were looked at. */
  readonly identities: readonly string[];
  /** Object directories outside that it borrows from. */
  readonly lenders: readonly Lender[];
}

type Found = Pick<GitDirectories, 'checkout' | 'gitDir' | 'visible'>;

/** A `.git` file and its like hold one path. */
const MAX_POINTER_BYTES = 4096;

/** Of the repository that this path is in, as git itself would find it. @throws `repository_invalid` */
export async function findGitDirectories(path: string): Promise<GitDirectories> {
  const start = await realpath(resolve(path)).catch(() => null);
  if (start === null) throw invalid(path, 'there is no such directory');
  for (let at = start; ; at = dirname(at)) {
    const found = await directoriesAt(at);
    if (found !== null) return await whole(found);
    if (dirname(at) === at) throw invalid(path, 'neither it nor a directory above it is a git repository');
  }
}

async function directoriesAt(at: string): Promise<Found | null> {
  const dotGit = join(at, '.git');
  const kind = await lstat(dotGit).catch(() => null);
  if (kind?.isSymbolicLink() === true) throw invalid(at, 'its .git is a symbolic link');
  if (kind?.isDirectory() === true) return { checkout: at, gitDir: dotGit, visible: [dotGit] };
  if (kind?.isFile() === true) return await pointedAt(at, dotGit);
  if (!(await isGitDirectory(at))) return null;
  // Named by its git directory, a checkout is the same repository as by its root.
  const checkout = basename(at) === '.git' ? dirname(at) : at;
  return { checkout, gitDir: at, visible: [at] };
}

/** The git directory that a `.git` file names: of a linked worktree, or of a submodule. */
async function pointedAt(checkout: string, dotGit: string): Promise<Found> {
  const named = /^gitdir: (.+)$/.exec(await readPointer(checkout, dotGit))?.[1];
  const gitDir = named === undefined ? null : await realpath(resolve(checkout, named)).catch(() => null);
  if (gitDir === null) throw invalid(checkout, 'its .git file names no directory that is there');
  const common = dirname(dirname(gitDir));
  if (basename(dirname(gitDir)) === 'worktrees' && (await isGitDirectory(common))) {
    const back = await realpath(await readPointer(checkout, join(gitDir, 'gitdir'))).catch(() => null);
    if (back !== dotGit)
      throw invalid(checkout, 'the repository that its .git file names does not know it as a worktree');
    return { checkout, gitDir, visible: [common] };
  }
  const [owner, rest] = gitDir.split(`${sep}.git${sep}modules${sep}`);
  const isSubmodule = owner !== undefined && rest !== undefined && checkout.startsWith(`${owner}${sep}`);
  if (!isSubmodule) throw invalid(checkout, 'its .git file names a directory of another repository');
  return { checkout, gitDir, visible: [gitDir] };
}

/** The one line of a pointer file, byte for byte: git would take more than one line as part of the path. */
async function readPointer(checkout: string, file: string): Promise<string> {
  const kind = await lstat(file).catch(() => null);
  if (kind?.isFile() !== true || kind.size > MAX_POINTER_BYTES)
    throw invalid(checkout, `${basename(file)} is no pointer file`);
  const line = (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  if (line === '' || /[\0\r\n]/.test(line)) throw invalid(checkout, `${basename(file)} is no pointer file`);
  return line;
}

async function whole(found: Found): Promise<GitDirectories> {
  const identities = await Promise.all(found.visible.map(identityOf));
  const lenders: Lender[] = [];
  for (const directory of found.visible) {
    const objects = join(directory, 'objects');
    const kind = await lstat(objects).catch(() => null);
    if (kind?.isSymbolicLink() === true) throw invalid(found.checkout, 'its objects are behind a symbolic link');
    if (kind?.isDirectory() !== true) continue;
    const { uid } = await lstat(directory);
    lenders.push(...(await findLenders(objects, uid).catch((thrown: unknown) => refuse(found, thrown))));
  }
  return { ...found, identities, lenders };
}

function refuse({ checkout }: Found, thrown: unknown): never {
  if (!(thrown instanceof UnusableLender)) throw thrown;
  const reason = `of the objects that it borrows, ${thrown.message}; \`git repack -a -d\` makes it whole`;
  throw portcullisError('repository_invalid', { path: checkout, reason }, thrown);
}

async function isGitDirectory(path: string): Promise<boolean> {
  return (
    (await exists(join(path, 'HEAD'))) && (await exists(join(path, 'objects'))) && (await exists(join(path, 'refs')))
  );
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function invalid(path: string, reason: string) {
  return portcullisError('repository_invalid', { path, reason });
}
