/**
 * What of a git directory git is shown: never the directory itself, only the parts that name a commit and hold its objects. A
 * part that is a link (`git-new-workdir`, Android's `repo`, objects on another disk) is followed by us and not by git, and only
 * to the same part of another git directory, or to a directory of objects, of the same owner (docs/decisions/0004-bundles.md).
 * https://git-scm.com/docs/gitrepository-layout
 */
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withDirectory, type HeldDirectory } from './held-directory.ts';
import { holdsObjects } from './lenders.ts';

/** A directory to mount: where, the real path, and what it has to be by then. */
export interface ShownDirectory {
  /** Relative to the git directory. */
  readonly at: string;
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

/** A small file: git is given a copy. */
export interface ShownFile {
  readonly at: string;
  readonly bytes: Buffer;
}

/** A part that is kept elsewhere, for whoever wants to know what is read. */
export interface LinkedPart {
  readonly part: string;
  /** Real path of the directory that holds it. */
  readonly within: string;
}

export interface GitParts {
  readonly directories: readonly ShownDirectory[];
  readonly files: readonly ShownFile[];
  readonly links: readonly LinkedPart[];
}

/** Why a part cannot be shown, in words that name it. */
export class UnusablePart extends Error {}

const DIRECTORIES = ['objects', 'refs', 'reftable'] as const;
/** With the most bytes that each may have: a line, some sections, a line for each ref and for each end of history. */
const FILES: ReadonlyMap<string, number> = new Map([
  ['HEAD', 4096],
  ['config', 1024 * 1024],
  ['packed-refs', 256 * 1024 * 1024],
  ['shallow', 64 * 1024 * 1024],
]);
const NO_OBJECTS = 'which is no git object directory';
/** In the directory of a linked worktree; all else it has from the repository. */
const OF_WORKTREE = ['HEAD', 'refs', 'reftable'];

/** The parts of a git directory at a real path. @throws `UnusablePart` */
export async function readGitParts(path: string): Promise<GitParts> {
  return await readParts(path, [...DIRECTORIES, ...FILES.keys()], '');
}

/** The parts of the directory of a linked worktree, to be shown below `prefix`. @throws `UnusablePart` */
export async function readWorktreeParts(path: string, prefix: string): Promise<GitParts> {
  const parts = await readParts(path, OF_WORKTREE, prefix);
  return { ...parts, files: [...parts.files, { at: `${prefix}commondir`, bytes: Buffer.from('../..\n') }] };
}

/** Whether a directory is a repository's, as git tells: what is behind its links counts. */
export async function isGitDirectory(path: string): Promise<boolean> {
  const there = await Promise.all(['HEAD', 'objects', 'refs'].map((part) => exists(join(path, part))));
  return there.every(Boolean);
}

async function readParts(path: string, names: readonly string[], prefix: string): Promise<GitParts> {
  const directories: ShownDirectory[] = [];
  const files: ShownFile[] = [];
  const links: LinkedPart[] = [];
  const whole = await withDirectory(path, async (gitDir) => {
    for (const name of names) {
      const at = `${prefix}${name}`;
      const part = await partOf(gitDir, name);
      if (part === null) continue;
      if ('bytes' in part) files.push({ at, bytes: part.bytes });
      else directories.push({ at, path: part.path, identity: part.identity });
      if (part.linked) links.push({ part: name, within: dirname(part.path) });
    }
    return true;
  });
  if (whole === null) throw new UnusablePart(`${JSON.stringify(path)} is no directory`);
  return { directories, files, links };
}

interface Part {
  readonly path: string;
  readonly linked: boolean;
}
type FoundPart = Part & ({ readonly bytes: Buffer } | { readonly identity: string });

/** `null` where the repository has no such part. */
async function partOf(gitDir: HeldDirectory, name: string): Promise<FoundPart | null> {
  const found = await gitDir.look(name);
  if (found === null) return null;
  if (found.kind === 'link') return await behindLink(gitDir, name, found.uid);
  return await plainPart(gitDir, name, false);
}

async function plainPart(holder: HeldDirectory, name: string, linked: boolean): Promise<FoundPart | null> {
  const path = join(holder.path, name);
  const found = await holder.look(name);
  if (found === null) return null;
  const limit = FILES.get(name);
  if (limit === undefined) {
    if (found.kind !== 'directory') throw unusable(name, 'is no directory');
    return { path, linked, identity: found.identity };
  }
  const bytes = await holder.readFile(name, limit);
  if (bytes === null) throw unusable(name, `is no file of at most ${limit} bytes`);
  return { path, linked, bytes };
}

async function behindLink(gitDir: HeldDirectory, name: string, linkOwner: number): Promise<FoundPart | null> {
  const text = await readlink(join(gitDir.path, name)).catch(() => '');
  // How git wrote HEAD before it had symbolic refs of its own, and still reads it: the link's text counts, not its target.
  if (name === 'HEAD' && text.startsWith('refs/')) {
    return { path: join(gitDir.path, name), linked: false, bytes: Buffer.from(`ref: ${text}\n`) };
  }
  if (linkOwner !== gitDir.uid)
    throw unusable(name, 'is a link that another user than the owner of the repository made');
  const path = await realpath(join(gitDir.path, name)).catch(() => null);
  if (path === null) {
    // `git-new-workdir` links what may come to be.
    if (name === 'packed-refs' || name === 'shallow') return null;
    throw unusable(name, 'is a link that leads nowhere');
  }
  if (name === 'objects') return await objectsBehindLink(gitDir, path);
  const part = await withDirectory(dirname(path), async (holder) => {
    if (basename(path) !== name || !(await isGitDirectory(holder.path))) {
      throw unusable(name, `is a link to ${JSON.stringify(path)}, which is no such part of a git directory`);
    }
    const found = await holder.look(name);
    requireOwner(gitDir, name, path, [holder.uid, found?.uid]);
    return await plainPart(holder, name, true);
  });
  if (part === null) throw unusable(name, 'is a link that leads nowhere');
  return part;
}

/** Objects may be kept by themselves: what is there must be objects and nothing else. */
async function objectsBehindLink(gitDir: HeldDirectory, path: string): Promise<FoundPart> {
  const part = await withDirectory(path, async (objects) => {
    requireOwner(gitDir, 'objects', path, [objects.uid]);
    if (!(await holdsObjects(objects)))
      throw unusable('objects', `is a link to ${JSON.stringify(path)}, ${NO_OBJECTS}`);
    return { path, linked: true, identity: objects.identity };
  });
  if (part === null) throw unusable('objects', `is a link to ${JSON.stringify(path)}, which is no directory`);
  return part;
}

function requireOwner(
  gitDir: HeldDirectory,
  name: string,
  path: string,
  owners: readonly (number | undefined)[],
): void {
  if (owners.every((uid) => uid === gitDir.uid)) return;
  throw unusable(name, `is a link to ${JSON.stringify(path)}, which belongs to another user than the repository`);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function unusable(name: string, what: string): UnusablePart {
  return new UnusablePart(`its ${name} ${what}`);
}
