/**
 * Runs git on the control plane's own repositories. No configuration of the machine, of a user or of a checkout is read,
 * no hook and no filter runs (invariant 17).
 */
import { execFile, spawn, type ExecFileException } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { shortened } from '../../schemas/text.ts';

/** Nothing of the machine's, a user's or a checkout's configuration. */
export const GIT_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
} as const;

/** Before every command: no hooks, no monitor, no maintenance behind our back. */
export const GIT_SETTINGS = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'gc.auto=0',
  '-c',
  'safe.bareRepository=all',
];

/** Bytes of output that are read before git is stopped. */
const OUTPUT_LIMIT = 16 * 1024 * 1024;

export interface GitCall {
  readonly gitDir: string;
  readonly args: readonly string[];
  /** Milliseconds until git is stopped. */
  readonly timeoutMs?: number;
  readonly input?: string | Uint8Array;
  /** On top of {@link GIT_ENVIRONMENT}. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface GitEnd {
  /** Exit code; -1 when it was stopped, at its deadline or for printing too much. */
  readonly code: number;
  readonly stdout: Buffer;
  /** git's last line of complaint. */
  readonly complaint: string;
}

/** How git ended, for commands whose exit code is an answer. */
export async function runGit({ gitDir, args, timeoutMs = 30_000, input, environment = {} }: GitCall): Promise<GitEnd> {
  const { promise, resolve } = Promise.withResolvers<GitEnd>();
  const child = execFile(
    'git',
    [...GIT_SETTINGS, `--git-dir=${gitDir}`, ...args],
    {
      env: { ...GIT_ENVIRONMENT, ...environment },
      encoding: 'buffer',
      maxBuffer: OUTPUT_LIMIT,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    },
    (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, complaint: '' });
      else resolve({ code: exitCode(error), stdout, complaint: complaint(stderr, error) });
    },
  );
  child.stdin?.on('error', () => {});
  child.stdin?.end(input ?? '');
  return await promise;
}

/** What git printed. @throws `repository_invalid` with git's last line of complaint when it failed. */
export async function git(call: GitCall): Promise<Buffer> {
  const { code, stdout, complaint: reason } = await runGit(call);
  if (code !== 0) throw portcullisError('repository_invalid', { path: 'the repository', reason });
  return stdout;
}

/** The one line that git printed. @throws `repository_invalid` */
export async function gitLine(call: GitCall): Promise<string> {
  return (await git(call)).toString('utf8').trim();
}

/**
 * Gives each line that git prints to `take`, however many there are.
 * @throws `repository_invalid` when it failed, at its deadline too
 */
export async function gitLines(
  { gitDir, args, timeoutMs = 30_000, environment = {} }: Omit<GitCall, 'input'>,
  input: Iterable<string>,
  take: (line: string) => void,
): Promise<void> {
  const child = spawn('git', [...GIT_SETTINGS, `--git-dir=${gitDir}`, ...args], {
    env: { ...GIT_ENVIRONMENT, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  // What git does not read it has no use for; how it ended counts.
  const fed = pipeline(Readable.from(input), child.stdin).catch(() => {});
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) take(line);
  const [code] = await Promise.all([ended, fed]);
  if (code === 0) return;
  throw portcullisError('repository_invalid', { path: 'the repository', reason: `git ${args[0] ?? ''} failed` });
}

/** True when git exits with 0; its output is not of interest. */
export async function gitSucceeds({ gitDir, args }: GitCall): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const child = spawn('git', [...GIT_SETTINGS, `--git-dir=${gitDir}`, ...args], {
    env: GIT_ENVIRONMENT,
    stdio: 'ignore',
  });
  child.once('error', reject);
  child.once('exit', (code) => {
    // Ended by a signal it has said neither yes nor no.
    if (code === null)
      reject(portcullisError('repository_invalid', { path: 'the repository', reason: 'git was ended' }));
    else resolve(code === 0);
  });
  return await promise;
}

function complaint(stderr: Buffer, error: Error): string {
  const last = stderr.toString('utf8').trim().split('\n').at(-1);
  return shortened(last ?? '', 200) || shortened(error.message, 200);
}

function exitCode({ code, killed }: ExecFileException): number {
  return typeof code === 'number' && killed !== true ? code : -1;
}
