/** What a preparation is given, what it may be handed of a commit, and what it leaves for the command. */
import type { ContentDigest } from '../../../schemas/digest.ts';
import type { Action } from '../../../schemas/verify/action.ts';
import type { PrepareStatement, PrepareStep } from '../../../schemas/verify/prepare.ts';
import type { SandboxProbe } from '../probe.ts';
import type { SandboxBind } from '../sandbox.ts';
import type { Tool, Toolchains } from '../toolchains.ts';

/** A text that a tool reads. Of the commit's own bytes, or made by us out of what they say. */
export interface PlannedFile {
  /** Relative to `/work`. */
  readonly path: string;
  readonly text: string;
}

/** Why nothing is prepared, or what with. */
export type PreparePlan =
  | { readonly kind: 'not_needed'; readonly reason: string }
  /** What the commit asks for is not permitted. */
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'ready';
      /** Everything of the commit that may influence what is made: it is the cache's key. */
      readonly inputs: readonly { readonly path: string; readonly sha256: ContentDigest }[];
      /** `files`: the tool sees only `files`. `commit`: the tool sees the commit's tree as well, read-only. */
      readonly sees: 'files' | 'commit';
      readonly files: readonly PlannedFile[];
      /** Written below `/prepared` before the tool starts. */
      readonly settings: readonly PlannedFile[];
      readonly chdir: '/work' | '/home/run';
      /** Directories below `/work` whose `node_modules` the command gets a copy of; `''` is the root. */
      readonly places: readonly string[];
    };

/** Files of the tree under test, read without following a link. */
export interface CommitFiles {
  /** `null` when there is no such plain file, or it is too large to be read. */
  read(path: string): Promise<string | null>;
  /** Paths of all files of the commit whose last segment is `name`; empty for a worktree. */
  named(name: string): readonly string[];
}

export type PlanPreparation = (files: CommitFiles, lockfile: string | null, step: PrepareStep) => Promise<PreparePlan>;

export type ReadyPlan = Extract<PreparePlan, { kind: 'ready' }>;

/** What of an executor a preparation needs. */
export interface PrepareContext {
  readonly identity: { readonly tenant: string };
  readonly probe: SandboxProbe;
  readonly toolchains: Toolchains;
  readonly toolchainDigest: (tools: readonly Tool[]) => Promise<ContentDigest>;
  readonly etc: string;
  readonly toolDirectory: string;
  readonly reporter: string;
  readonly graceMs: number;
  readonly prepare: PrepareSettings;
}

export interface PrepareSettings {
  /** Directory of what was prepared. */
  readonly directory: string;
  /** Bytes of all of it. */
  readonly maxBytes: number;
  readonly gatewaySocket: string;
  readonly bearer: string;
  /** The environment that every command of the policy has. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface PrepareCall {
  readonly step: PrepareStep;
  readonly action: Pick<Action, 'policy' | 'limits' | 'argvExecuted' | 'environment'>;
  readonly work: string;
  /** Directory of the run that is not there yet, for a cache that the command may write. */
  readonly caches: string;
  readonly files: CommitFiles;
  readonly cancellation: AbortSignal;
}

/** What a command finds prepared. */
export interface PreparedEnvironment {
  readonly statement: PrepareStatement;
  readonly binds: readonly SandboxBind[];
  readonly environment: Readonly<Record<string, string>>;
  /** Replaces the tool's own command, where the prepared one must run. */
  readonly command: readonly string[] | null;
}

/** A statement with its changing fields still at their beginning. */
export function statementOf(step: PrepareStep, change: Partial<PrepareStatement>): PrepareStatement {
  return {
    step: step.id,
    tool: step.tool,
    commands: step.commands,
    registries: step.registries,
    cache: 'none',
    lockfiles: [],
    duration_ms: 0,
    outcome: 'failed',
    reason: '',
    requests: 0,
    refused: 0,
    bytes: 0,
    ...change,
  };
}
