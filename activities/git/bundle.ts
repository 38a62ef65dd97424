/**
 * Reads a repository that somebody else can write. Git runs in a sandbox of its own that sees the repository's own git
 * directories read-only and nothing else, with no network and no transport, and what comes out is a bundle (invariant 17).
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { COMMIT_PATTERN } from '../../schemas/names.ts';
import { findGitDirectories, type GitDirectories } from './git-directories.ts';

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
const MAX_ANSWER_BYTES = 4096;

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

interface SandboxedGit {
  readonly stdout: Readable;
  /** The beginning of what it wrote to stderr. */
  readonly complaint: Promise<string>;
  readonly code: Promise<number>;
}

/**
 * Configuration that could start a program is overruled: no transport at all (a partial clone would fetch what it lacks,
 * by a command of its choice), no hooks, no monitor, no ssh, no pager. What is overlooked here still runs inside.
 */
const HARMLESS = [
  ...['safe.directory=*', 'core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.sshCommand=false'],
  ...['core.pager=cat', 'core.alternateRefsCommand=false', 'protocol.allow=never', 'pack.threads=1'],
].flatMap((setting) => ['-c', setting]);

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  // Overrules every `protocol.*.allow` of the repository: only a transport of this name may run.
  GIT_ALLOW_PROTOCOL: 'none',
} as const;

function startSandboxedGit(directories: GitDirectories, args: readonly string[], deadlineMs: number): SandboxedGit {
  const sandbox = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    // Where they are on this machine, since a linked worktree names its repository by its path.
    ...directories.visible.flatMap((directory) => ['--ro-bind', directory, directory]),
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', '/'],
  ];
  const command = ['git', ...HARMLESS, `--git-dir=${directories.gitDir}`, ...args];
  const child = spawn('bwrap', [...sandbox, '--', ...command], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  const { promise: code, resolve: end, reject: fail } = Promise.withResolvers<number>();
  child.once('error', (error) => {
    fail(
      portcullisError(
        'binary_missing',
        { program: 'bwrap', how: 'Install bubblewrap; see `portcullis doctor`.' },
        error,
      ),
    );
  });
  child.once('close', (status) => end(status ?? 1));
  // Whoever reads the streams also awaits the end; a failure in between must not count as unhandled.
  code.catch(() => {});
  return { stdout: child.stdout, complaint: bounded(child.stderr), code };
}

/** The beginning of a stream, which is read to its end so that its writer does not stall. */
async function bounded(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length < MAX_ANSWER_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER_BYTES);
}

function invalid(path: string, reason: string) {
  return portcullisError('repository_invalid', { path, reason });
}

function lastLine(complaint: string): string {
  return complaint.trim().split('\n').at(-1)?.slice(0, 200) || 'git could not pack it';
}
