/**
 * Reads a repository that somebody else can write: git runs in a sandbox of its own, without network, on a read-only view, so
 * that nothing the repository configures can reach the caller (invariant 17). What comes out is a bundle.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { portcullisError } from '../../schemas/errors.ts';
import { COMMIT_PATTERN } from '../../schemas/names.ts';

export interface RepositoryHead {
  /** Absolute path of the checkout, links resolved. */
  readonly path: string;
  readonly headSha: string;
  /** First parent of HEAD; `null` for the first commit. */
  readonly baseSha: string | null;
}

/** What HEAD of the repository at this path is. @throws `repository_invalid`, `binary_missing` */
export async function readRepositoryHead(path: string): Promise<RepositoryHead> {
  const root = await checkoutRoot(path);
  const headSha = (await sandboxedGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).trim();
  if (!COMMIT_PATTERN.test(headSha)) throw invalid(path, 'it has no commit yet');
  const parent = await sandboxedGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD^']).catch(() => '');
  return { path: root, headSha, baseSha: COMMIT_PATTERN.test(parent.trim()) ? parent.trim() : null };
}

/** Writes a bundle of HEAD with all its history to a new file. @throws `repository_invalid`, `binary_missing` */
export async function writeBundle(root: string, file: string): Promise<void> {
  const child = await startSandboxedGit(root, ['bundle', 'create', '--quiet', '-', 'HEAD']);
  const [, complaint] = await Promise.all([
    pipeline(child.stdout, createWriteStream(file, { flags: 'wx', mode: 0o600 })),
    text(child.stderr),
    child.ended,
  ]);
  if ((await child.ended) !== 0) throw invalid(root, lastLine(complaint));
}

async function sandboxedGit(root: string, args: readonly string[]): Promise<string> {
  const child = await startSandboxedGit(root, args);
  const [out, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), child.ended]);
  if (code !== 0) throw invalid(root, lastLine(complaint));
  return out;
}

async function startSandboxedGit(root: string, args: readonly string[]) {
  const views = [...new Set([root, ...(await sharedGitDirectories(root))])];
  const sandbox = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...views.flatMap((view) => ['--ro-bind', view, view]),
    ...['--chdir', root, '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'HOME', '/tmp'],
    ...['--setenv', 'GIT_CONFIG_NOSYSTEM', '1', '--setenv', 'GIT_OPTIONAL_LOCKS', '0', '--setenv', 'LANG', 'C.UTF-8'],
  ];
  const git = [
    'git',
    '-c',
    'safe.directory=*',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
    ...args,
  ];
  const child = spawn('bwrap', [...sandbox, '--', ...git], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>();
  child.once('error', (error) => {
    fail(
      portcullisError(
        'binary_missing',
        { program: 'bwrap', how: 'Install bubblewrap; see `portcullis doctor`.' },
        error,
      ),
    );
  });
  child.once('close', (code) => end(code ?? 1));
  // Whoever reads the streams also awaits the end; a failure in between must not count as unhandled.
  ended.catch(() => {});
  return { stdout: child.stdout, stderr: child.stderr, ended };
}

/** The checkout's own root, so that a path inside a repository works as it does with git. */
async function checkoutRoot(path: string): Promise<string> {
  const start = await realpath(resolve(path)).catch(() => null);
  if (start === null) throw invalid(path, 'there is no such directory');
  for (let at = start; ; at = dirname(at)) {
    if ((await exists(join(at, '.git'))) || (await isBare(at))) return at;
    if (dirname(at) === at) throw invalid(path, 'neither it nor a directory above it is a git repository');
  }
}

/** Where a linked worktree keeps its objects: `.git` is then a file that names another directory. */
async function sharedGitDirectories(root: string): Promise<readonly string[]> {
  const pointer = await readFile(join(root, '.git'), 'utf8').catch(() => null);
  const named = pointer === null ? null : /^gitdir: (.+)$/m.exec(pointer);
  if (named?.[1] === undefined) return [];
  const gitDir = await realpath(resolve(root, named[1])).catch(() => null);
  if (gitDir === null) return [];
  const common = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => null);
  return common === null ? [gitDir] : [gitDir, await realpath(resolve(gitDir, common.trim()))];
}

async function isBare(path: string): Promise<boolean> {
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

function lastLine(complaint: string): string {
  return complaint.trim().split('\n').at(-1)?.slice(0, 200) || 'git refused it without a word';
}
