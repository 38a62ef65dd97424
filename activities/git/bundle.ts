/**
 * Reads a repository that somebody else can write. Git runs in a sandbox of its own that sees the parts of the git directory
 * that it needs and the object directories that it borrows from, and what comes out is a bundle (invariant 17).
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { COMMIT_PATTERN } from '../../schemas/names.ts';
import { findGitDirectories, type GitDirectories } from './git-directories.ts';
import { bounded, startSandboxedGit } from './sandboxed-git.ts';
import { shortened } from '../../schemas/text.ts';

export interface RepositoryHead {
  /** Absolute path of the checkout, links resolved. */
  readonly path: string;
  readonly directories: GitDirectories;
  readonly headSha: string;
  /** First parent of HEAD; `null` for the first commit, and where a shallow or partial clone has cut the history. */
  readonly baseSha: string | null;
}

/** Looking up a commit takes milliseconds; a repository that makes it take longer is not waited for. */
const LOOK_UP_MS = 15_000;
/** Packing a history of many gigabytes takes its time. */
const PACK_MS = 60 * 60_000;

/** What HEAD of the repository at this path is. @throws `repository_invalid`, `binary_missing` */
export async function readRepositoryHead(path: string): Promise<RepositoryHead> {
  const directories = await findGitDirectories(path);
  const head = await lookUp(directories, 'HEAD^{commit}');
  if (head.commit === null) throw invalid(directories.checkout, head.complaint ?? 'it has no commit yet');
  const pinned = pinnedTo(directories, head.commit);
  if (await isPartial(directories)) return await partialHead(directories, head.commit);
  // A shallow clone names the parent and does not have it, which is answered as no commit.
  const { commit: baseSha } = await lookUp(pinned, `${head.commit}^1^{commit}`);
  return { path: directories.checkout, directories: pinned, headSha: head.commit, baseSha };
}

/**
 * A bundle of HEAD with all the history that is there, as git makes it: nothing of it is kept.
 * It fails with `repository_invalid`, `binary_missing`; what is destroyed ends its git.
 */
export function bundleOf(head: RepositoryHead): Readable {
  const call = startSandboxedGit(head.directories, ['bundle', 'create', '--quiet', '-', 'HEAD'], PACK_MS);
  const bundle = new Readable({
    read: () => void call.stdout.resume(),
    destroy: (error, done) => {
      call.stop();
      done(error);
    },
  });
  call.stdout.pause();
  call.stdout.on('data', (part: Buffer) => bundle.push(part) || call.stdout.pause());
  void Promise.all([call.complaint, call.code]).then(
    ([complaint, code]) => {
      if (code === 0) bundle.push(null);
      else bundle.destroy(invalid(head.path, lastLine(complaint)));
    },
    (thrown: unknown) => bundle.destroy(thrown instanceof Error ? thrown : portcullisError('internal')),
  );
  return bundle;
}

/** Writes {@link bundleOf} to a new file. @throws `repository_invalid`, `binary_missing` */
export async function writeBundle(head: RepositoryHead, file: string): Promise<void> {
  try {
    await pipeline(bundleOf(head), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  }
}

/** The same repository with its head at this commit, whatever is committed there meanwhile. */
function pinnedTo(directories: GitDirectories, commit: string): GitDirectories {
  const { parts } = directories;
  // Where refs are kept in tables the file HEAD says nothing.
  if (parts.directories.some(({ at }) => at.endsWith('reftable'))) return directories;
  return {
    ...directories,
    isWorktree: false,
    parts: {
      directories: parts.directories.filter(({ at }) => at === 'objects'),
      files: [
        { at: 'HEAD', bytes: Buffer.from(`${commit}\n`) },
        ...parts.files.filter(({ at }) => at === 'config' || at === 'shallow'),
      ],
    },
  };
}

/** Whether it is a partial clone, which lacks what it would fetch when it is wanted. */
async function isPartial(directories: GitDirectories): Promise<boolean> {
  const config = directories.parts.files.find(({ at }) => at === 'config')?.bytes.toString('latin1') ?? '';
  if (!/partialclone|promisor/i.test(config)) return false;
  const pattern = '^(extensions[.]partialclone|remote[.].*[.]promisor)$';
  const call = startSandboxedGit(directories, ['config', '--get-regexp', pattern], LOOK_UP_MS);
  const [answer] = await Promise.all([bounded(call.stdout), call.code, call.complaint]);
  return answer !== '';
}

/** The commit of a partial clone without the history before it, of which there are commits and no files. */
async function partialHead(directories: GitDirectories, headSha: string): Promise<RepositoryHead> {
  const whole = pinnedTo(directories, headSha);
  const files = whole.parts.files.filter(({ at }) => at !== 'shallow');
  const cut = { at: 'shallow', bytes: Buffer.from(`${headSha}\n`) };
  const only = { ...whole, parts: { ...whole.parts, files: [...files, cut] } };
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', headSha];
  const call = startSandboxedGit(only, args, PACK_MS);
  const [missing, code, complaint] = await Promise.all([countMissing(call.stdout), call.code, call.complaint]);
  if (code !== 0) throw invalid(directories.checkout, lastLine(complaint));
  if (missing > 0) {
    const reason = `it is a partial clone and lacks ${missing} objects of the commit itself; a checkout of all files fetches them`;
    throw invalid(directories.checkout, reason);
  }
  return { path: directories.checkout, directories: only, headSha, baseSha: null };
}

/** How many lines begin with `?`, which is how git prints what is not there. */
async function countMissing(listing: Readable): Promise<number> {
  let count = 0;
  let atStart = true;
  for await (const part of listing as AsyncIterable<Buffer>) {
    if (atStart && part[0] === 0x3f) count += 1;
    for (let at = part.indexOf('\n?'); at !== -1; at = part.indexOf('\n?', at + 1)) count += 1;
    atStart = part.at(-1) === 0x0a;
  }
  return count;
}

interface LookedUp {
  readonly commit: string | null;
  /** What git could not cope with; `null` when it says no more than that there is none. */
  readonly complaint: string | null;
}

async function lookUp(directories: GitDirectories, expression: string): Promise<LookedUp> {
  const call = startSandboxedGit(directories, ['rev-parse', '--verify', '--quiet', expression], LOOK_UP_MS);
  const [answer, code, complaint] = await Promise.all([bounded(call.stdout), call.code, call.complaint]);
  const commit = code === 0 && COMMIT_PATTERN.test(answer.trim()) ? answer.trim() : null;
  return { commit, complaint: complaint.trim() === '' ? null : lastLine(complaint) };
}

function invalid(path: string, reason: string) {
  return portcullisError('repository_invalid', { path, reason });
}

function lastLine(complaint: string): string {
  return shortened(complaint.trim().split('\n').at(-1) ?? '', 200) || 'git could not pack it';
}
