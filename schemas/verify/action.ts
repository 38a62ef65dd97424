/**
 * The action: what the executor is told to do, whole, signed by the control worker. The executor runs only what verifies
 * for itself (spec/delegated-verification.md section 3).
 */
import type { Digest } from '../digest.ts';
import type { ExecutorRole } from '../names.ts';
import type { PrepareStep } from './prepare.ts';
import type { PinnedSubject, PolicyRef, WorkingDirectory } from './request.ts';

export interface CommandLimits {
  readonly timeoutSecs: number;
  readonly processes: number;
  /** Bytes of anonymous memory a process may have (RLIMIT_DATA; RLIMIT_AS breaks Node). */
  readonly dataBytes: number;
  /** Of all processes together, scratch space included; in force where a cgroup is delegated to the executor. */
  readonly memoryBytes: number;
  readonly fileBytes: number;
  /** On disk: the copy, with whatever is written into it. */
  readonly workBytes: number;
  /** Files, directories and links: so many in the copy, and so many in each scratch space. */
  readonly files: number;
  readonly openFiles: number;
  readonly tmpBytes: number;
  /** Kept of each stream, head and tail; the rest is counted. */
  readonly outputBytes: number;
}

/**
 * How a template's counts are read. `runner-summary` is for tools that start a runner of the repository's choice (`npm test`,
 * `make test`): whichever one runner's summary stands on stdout.
 */
export const COUNT_PARSERS = [
  'node-test',
  'cargo-test',
  'go-test',
  'pytest',
  'vitest',
  'jest',
  'bun-test',
  'runner-summary',
] as const;
export type CountParser = (typeof COUNT_PARSERS)[number];

export interface CountRule {
  readonly parser: CountParser;
  readonly minExecuted: number;
  readonly maxSkipped: number;
}

export interface Action {
  readonly schema: 'portcullis/action/v1';
  readonly tenant: string;
  readonly pair: string;
  readonly taskId: string;
  readonly requestDigest: Digest<'request'>;
  readonly policy: PolicyRef;
  readonly cwd: WorkingDirectory;
  readonly argvRequested: readonly string[];
  /** `argv[0]` is still a logical tool id; the executor maps it to a real path. */
  readonly argvExecuted: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: CommandLimits;
  readonly artifacts: readonly string[];
  /** `null` for templates that run no tests (build, lint). */
  readonly counts: CountRule | null;
  /** What is done before the command; `null` for templates that need nothing. */
  readonly prepare: PrepareStep | null;
  readonly subject: PinnedSubject;
  readonly executor: {
    readonly role: ExecutorRole;
    readonly workspace: string;
    readonly workspaceGeneration: number;
  };
  /** Milliseconds since the epoch; not run when it is past. */
  readonly notAfter: number;
}

export interface SignedAction {
  readonly action: Action;
  readonly digest: Digest<'action'>;
  /** Ed25519 over the digest's text, base64. */
  readonly signature: string;
  readonly keyId: string;
}
