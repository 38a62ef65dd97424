/**
 * Runs git on a repository that somebody else can write: in a sandbox that sees the repository's own git directories and the
 * object directories that it borrows from, read-only, and nothing else; no network, no transport (invariant 17).
 */
import { spawn } from 'node:child_process';
import { Writable, type Readable } from 'node:stream';
import { portcullisError } from '../../schemas/errors.ts';
import { WORKTREE, type GitDirectories } from './git-directories.ts';

const MAX_ANSWER_BYTES = 4096;
/** A few kilobytes of objects can be made to take any amount of memory. */
const MEMORY_KIB = 8 * 1024 * 1024;
/** Files are given to the sandbox over descriptors from here on; those before are its streams. */
const FIRST_FILE = 3;

export interface SandboxedGit {
  readonly stdout: Readable;
  /** The beginning of what it wrote to stderr. */
  readonly complaint: Promise<string>;
  readonly code: Promise<number>;
  stop(): void;
}

/**
 * Configuration that could start a program is overruled: no transport at all (a partial clone would fetch what it lacks,
 * by a command of its choice), no hooks, no monitor, no ssh, no pager. What is overlooked here still runs inside.
 */
const HARMLESS = [
  ...['safe.directory=*', 'core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.sshCommand=false'],
  ...['core.pager=cat', 'core.alternateRefsCommand=false', 'protocol.allow=never', 'pack.threads=1'],
  // Large files are copied and not searched for what they have in common: bounded memory, and much faster.
  ...['core.bigFileThreshold=16m', 'pack.windowMemory=256m', 'core.packedGitLimit=1g', 'core.packedGitWindowSize=128m'],
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

/** Where git sees the git directory, of which there is nothing but what it is shown. */
const GIT_DIR = '/repository';
/** Where the configuration says that one is (`core.worktree`, as in every submodule) there is nothing here. */
const NO_WORK_TREE = '--work-tree=/tmp';
/** Where an object directory that is borrowed from is shown. */
const lenderAt = (n: number) => `/lenders/${n}`;

/** What is shown to git, and where: the real path outside, the path inside, and what it has to be. */
function shown({ parts, lenders }: GitDirectories) {
  return [
    ...parts.directories.map(({ at, path, identity }) => ({ from: path, at: `${GIT_DIR}/${at}`, identity })),
    ...lenders.map(({ path, identity, holds }, n) => ({
      ...{ from: path, identity },
      at: holds === 'packs' ? `${lenderAt(n)}/pack` : lenderAt(n),
    })),
  ];
}

/**
 * The lists of lenders are hidden from git, which is told of those that were checked. A device, since bubblewrap has no empty
 * file to bind: git reads nothing from it.
 */
function hidden({ borrows, lenders }: GitDirectories): readonly string[] {
  const lists = [
    ...(borrows ? [`${GIT_DIR}/objects`] : []),
    ...lenders.flatMap((lender, n) => (lender.borrows ? [lenderAt(n)] : [])),
  ];
  return lists.flatMap((objects) => ['--dev-bind', '/dev/null', `${objects}/info/alternates`]);
}

/** A path may name another directory by the time it is mounted; what was mounted is compared with what was looked at. */
const COMPARE_THEN_GIT = `
ulimit -v ${MEMORY_KIB} 2>/dev/null
n=$1; shift
while [ "$n" -gt 0 ]; do
  [ "$(stat -c %d:%i -- "$1")" = "$2" ] || { echo "$1 was replaced while it was read" >&2; exit 1; }
  shift 2; n=$((n - 1))
done
exec git "$@"`;

/** Git on that repository. It is killed at the deadline, milliseconds. @throws through `code`: `binary_missing` */
export function startSandboxedGit(
  directories: GitDirectories,
  args: readonly string[],
  deadlineMs: number,
): SandboxedGit {
  const mounts = shown(directories);
  const { files } = directories.parts;
  const gitDir = directories.isWorktree ? `${GIT_DIR}/${WORKTREE}` : GIT_DIR;
  const lent = directories.lenders.map((_, n) => lenderAt(n)).join(':');
  const environment = { ...ENVIRONMENT, ...(lent === '' ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: lent }) };
  const sandbox = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--dir', `${GIT_DIR}/refs`],
    ...files.flatMap(({ at }, n) => ['--file', String(FIRST_FILE + n), `${GIT_DIR}/${at}`]),
    ...mounts.flatMap(({ from, at }) => ['--ro-bind', from, at]),
    ...hidden(directories),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', '/'],
  ];
  const compared = mounts.flatMap(({ at, identity }) => [at, identity]);
  const command = [
    ...['/bin/sh', '-c', COMPARE_THEN_GIT, 'git', String(mounts.length), ...compared],
    ...[...HARMLESS, `--git-dir=${gitDir}`, NO_WORK_TREE, ...args],
  ];
  const child = spawn('bwrap', [...sandbox, '--', ...command], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe', ...files.map(() => 'pipe' as const)],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  files.forEach(({ bytes }, n) => {
    const to = child.stdio[FIRST_FILE + n];
    if (!(to instanceof Writable)) return;
    // A sandbox that ends before it has read everything says why.
    to.on('error', () => {});
    to.end(bytes);
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw portcullisError('internal');
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
  return { stdout, complaint: bounded(stderr), code, stop: () => void child.kill('SIGKILL') };
}

/** The beginning of a stream, which is read to its end so that its writer does not stall. */
export async function bounded(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length < MAX_ANSWER_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER_BYTES);
}
