/**
 * Reads a repository that somebody else can write. Git runs in a sandbox of its own that sees the repository's own git
 * directories and the object directories that it borrows from, and what comes out is a bundle (invariant 17).
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { COMMIT_PATTERN } from '../../schemas/names.ts';
import { findGitDirectories, type GitDirectories } from './git-directories.ts';
import { bounded, startSandboxedGit } from './sandboxed-git.ts';

export interface RepositoryHead {
  /** Absolute path of the checkout, links resolved. */
  readonly path: string;
  readonly directories: GitDirectories;
  readonly headSha: string;
  /** First parent of HEAD; `null` for the first commit, and where a shallow clone has cut the history. */
  readonly baseSha: string | null;
}

/** Looking up a commit takes milliseconds; a repository that makes it take longer is not waited for. */
const LOOK_UP_MS = 15_000;
/** Packing a large history takes minutes. */
const PACK_MS = 10 * 60_000;

/** What HEAD of the repository at this path is. @throws `repository_invalid`, `binary_missing` */
export async function readRepositoryHead(path: string): Promise<RepositoryHead> {
  const directories = await findGitDirectories(path);
  const headSha = await commitOf(directories, 'HEAD^{commit}');
  if (headSha === null) throw invalid(directories.checkout, 'it has no commit yet');
  // A shallow clone names the parent and does not have it, which is answered as no commit.
  return { path: directories.checkout, directories, headSha, baseSha: await commitOf(directories, 'HEAD^1^{commit}') };
}

/** Writes a bundle of HEAD with all the history that is there to a new file. @throws `repository_invalid`, `binary_missing` */
export async function writeBundle(head: RepositoryHead, file: string): Promise<void> {
  const call = startSandboxedGit(head.directories, ['bundle', 'create', '--quiet', '-', 'HEAD'], PACK_MS);
  const written = pipeline(call.stdout, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  const [complaint, code] = await Promise.all([call.complaint, call.code, written]);
  if (code === 0) return;
  await rm(file, { force: true });
  throw invalid(head.path, lastLine(complaint));
}

/** The commit that the expression names; `null` when there is none. */
async function commitOf(directories: GitDirectories, expression: string): Promise<string | null> {
  const call = startSandboxedGit(directories, ['rev-parse', '--verify', '--quiet', expression], LOOK_UP_MS);
  const [answer, code] = await Promise.all([bounded(call.stdout), call.code, call.complaint]);
  return code === 0 && COMMIT_PATTERN.test(answer.trim()) ? answer.trim() : null;
}

function invalid(path: string, reason: string) {
  return portcullisError('repository_invalid', { path, reason });
}

function lastLine(complaint: string): string {
  return complaint.trim().split('\n').at(-1)?.slice(0, 200) || 'git could not pack it';
}
