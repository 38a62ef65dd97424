/** What `portcullis verify` was asked for, checked before anything is started. */
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName, isExecutorRole, type ExecutorRole } from '../../schemas/names.ts';
import { WORKING_DIRECTORIES, type WorkingDirectory } from '../../schemas/verify/request.ts';

export interface VerifyOptions {
  /** Path of a git repository, or of a directory inside one. */
  readonly repo: string;
  /** `null`: a pair of the repository's own, named after its path. */
  readonly pair: string | null;
  /** `worktree`: the files as they are now in the repository's checkout, committed or not. */
  readonly cwd: WorkingDirectory;
  readonly timeoutSecs: number;
  readonly expectExit: number;
  /** `null`: the routing policy's default, which is a verifier for a commit and a producer for a live tree. */
  readonly executor: ExecutorRole | null;
  /** Ask again on purpose, although the same was answered before. */
  readonly again: boolean;
  readonly artifacts: readonly string[];
  readonly argv: readonly string[];
}

/** Flags as commander gives them. @throws `usage` naming the flag */
export function verifyOptions(flags: Readonly<Record<string, unknown>>, argv: readonly string[]): VerifyOptions {
  if (argv.length === 0) throw usage('name the command to run after --, for example: -- node --test');
  const cwd = WORKING_DIRECTORIES.find((name) => name === flags['cwd']);
  if (cwd === undefined) throw usage(`--cwd must be one of ${WORKING_DIRECTORIES.join(', ')}`);
  const executor = text(flags['executor']);
  if (executor !== null && !isExecutorRole(executor)) throw usage('--executor must be forge or verifier');
  if (cwd === 'worktree' && executor === 'verifier') {
    throw usage(
      '--executor verifier has no live tree, so that nothing uncommitted can pass a gate: use --executor forge',
    );
  }
  const pair = text(flags['pair']);
  return {
    repo: text(flags['repo']) ?? '.',
    pair: pair === null ? null : checkedName('--pair', pair),
    cwd,
    timeoutSecs: whole('--timeout', flags['timeout'], 1, 3600),
    expectExit: whole('--expect-exit', flags['expectExit'], 0, 255),
    executor,
    again: flags['again'] === true,
    artifacts: texts(flags['artifact']),
    argv,
  };
}

function whole(flag: string, value: unknown, least: number, most: number): number {
  const written = text(value) ?? '';
  const number = /^\d{1,6}$/.test(written) ? Number(written) : Number.NaN;
  if (!(number >= least && number <= most)) throw usage(`${flag} must be a whole number from ${least} to ${most}`);
  return number;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function usage(reason: string) {
  return portcullisError('usage', { reason });
}
