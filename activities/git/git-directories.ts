/**
 * Finds the git directory of a checkout that somebody else can write, and what of it git needs to see. A directory outside the
 * checkout is read only when it names the checkout in turn, or is a git directory of the same owner: otherwise a hostile `.git`
 * could have any directory of this machine shown to what runs in the sandbox.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import {
  isGitDirectory,
  readGitParts,
  readWorktreeParts,
  UnusablePart,
  type GitParts,
  type LinkedPart,
} from './git-parts.ts';
import { lookAt, readPlainFile } from './held-directory.ts';
import { findLenders, UnusableLender, type Lender } from './lenders.ts';

export interface GitDirectories {
  /** Root of the checkout, or the bare repository; links resolved. */
  readonly checkout: string;
  /** What git is shown of the git directory. */
  readonly parts: Pick<GitParts, 'directories' | 'files'>;
  /** Whether those below {@link WORKTREE} are those of a linked worktree, whose head it is. */
  readonly isWorktree: boolean;
  /** Object directories outside that it borrows from, and whether it names any by itself. */
  readonly lenders: readonly Lender[];
  readonly borrows: boolean;
  /** What is kept outside the git directory, behind a link or a `.git` file that is known from one side only. */
  readonly links: readonly LinkedPart[];
}

/** Where, in the git directory that is shown, the parts of a linked worktree are: its own name is of no interest. */
export const WORKTREE = 'worktrees/it/';

interface Found {
  readonly checkout: string;
  /** Real path of the repository's git directory. */
  readonly gitDir: string;
  /** That of a linked worktree, below the other. */
  readonly worktree: string | null;
  readonly links: readonly LinkedPart[];
}

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
  const kind = (await lookAt(dotGit))?.kind;
  if (kind === 'link') return await linkedTo(at, dotGit);
  if (kind === 'directory') return { checkout: at, gitDir: dotGit, worktree: null, links: [] };
  if (kind === 'file') return await pointedAt(at, dotGit);
  if (!(await isGitDirectory(at))) return null;
  // Named by its git directory, a checkout is the same repository as by its root.
  const checkout = basename(at) === '.git' ? dirname(at) : at;
  return { checkout, gitDir: at, worktree: null, links: [] };
}

/** The git directory, or the `.git` file, that a link in the place of `.git` leads to. */
async function linkedTo(checkout: string, dotGit: string): Promise<Found> {
  const target = await realpath(dotGit).catch(() => null);
  if (target === null) throw invalid(checkout, 'its .git is a link that leads nowhere');
  if ((await lookAt(target))?.kind === 'file') return await pointedAt(checkout, target);
  return await onlyNamed(checkout, target);
}

/** A git directory that does not name the checkout: the same user must have put both there. */
async function onlyNamed(checkout: string, gitDir: string): Promise<Found> {
  if (!(await isGitDirectory(gitDir)))
    throw invalid(checkout, `its .git leads to ${JSON.stringify(gitDir)}, which is no git directory`);
  const looked = await Promise.all([checkout, join(checkout, '.git'), gitDir].map(lookAt));
  if (new Set(looked.map((one) => one?.uid)).size !== 1) {
    throw invalid(
      checkout,
      `its .git leads to ${JSON.stringify(gitDir)}, which belongs to another user than the checkout`,
    );
  }
  return { checkout, gitDir, worktree: null, links: [{ part: '.git', within: gitDir }] };
}

/** The git directory that a `.git` file names: of a linked worktree, of a submodule, or one that is kept elsewhere. */
async function pointedAt(checkout: string, dotGit: string): Promise<Found> {
  const named = /^gitdir: (.+)$/.exec(await readPointer(checkout, dotGit))?.[1];
  const gitDir = named === undefined ? null : await realpath(resolve(checkout, named)).catch(() => null);
  if (gitDir === null) throw invalid(checkout, 'its .git file names no directory that is there');
  const common = dirname(dirname(gitDir));
  if (basename(dirname(gitDir)) === 'worktrees' && (await isGitDirectory(common))) {
    const back = await realpath(resolve(gitDir, await readPointer(checkout, join(gitDir, 'gitdir')))).catch(() => null);
    if (back !== dotGit) {
      const mend = '`git worktree repair` there tells it';
      throw invalid(checkout, `the repository that its .git file names does not know it as a worktree; ${mend}`);
    }
    return { checkout, gitDir: common, worktree: gitDir, links: [] };
  }
  const [owner, rest] = gitDir.split(`${sep}.git${sep}modules${sep}`);
  const isSubmodule = owner !== undefined && rest !== undefined && checkout.startsWith(`${owner}${sep}`);
  if (!isSubmodule) return await onlyNamed(checkout, gitDir);
  return { checkout, gitDir, worktree: null, links: [] };
}

/** The one line of a pointer file, byte for byte: git would take more than one line as part of the path. */
async function readPointer(checkout: string, file: string): Promise<string> {
  const bytes = await readPlainFile(file, MAX_POINTER_BYTES);
  const line = (bytes ?? Buffer.alloc(0)).toString('utf8').replace(/\r?\n$/, '');
  if (line === '' || /[\0\r\n]/.test(line)) throw invalid(checkout, `${basename(file)} is no pointer file`);
  return line;
}

async function whole(found: Found): Promise<GitDirectories> {
  const { checkout, gitDir, worktree, links } = found;
  try {
    const all = [
      await readGitParts(gitDir),
      ...(worktree === null ? [] : [await readWorktreeParts(worktree, WORKTREE)]),
    ];
    const parts = {
      directories: all.flatMap(({ directories }) => directories),
      files: all.flatMap(({ files }) => files),
    };
    const objects = parts.directories.find(({ at }) => at === 'objects');
    const owner = (await lookAt(gitDir))?.uid;
    if (objects === undefined || owner === undefined) throw invalid(checkout, 'its git directory has no objects');
    const lending = await findLenders(objects.path, owner);
    return {
      ...{ checkout, parts, isWorktree: worktree !== null },
      ...lending,
      links: [...links, ...all.flatMap((one) => one.links)],
    };
  } catch (thrown) {
    throw refusal(checkout, thrown);
  }
}

function refusal(checkout: string, thrown: unknown): unknown {
  if (thrown instanceof UnusablePart)
    return portcullisError('repository_invalid', { path: checkout, reason: thrown.message }, thrown);
  if (!(thrown instanceof UnusableLender)) return thrown;
  const reason = `of the objects that it borrows, ${thrown.message}; \`git repack -a -d\` makes it whole`;
  return portcullisError('repository_invalid', { path: checkout, reason }, thrown);
}

function invalid(path: string, reason: string) {
  return portcullisError('repository_invalid', { path, reason });
}
