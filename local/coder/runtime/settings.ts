/** What the runtime of real workspaces is told: where they live, their way out, and which command is each role's agent. */
import type { WorkspaceBounds } from '../../workspace/bounds.ts';
import type { Bind } from '../../workspace/program.ts';
import type { WorkspaceRole } from '../../../schemas/workspace/workflow.ts';

/** The roles that have an agent: a verifier's workspace has an executor and nobody who could talk to it. */
export type AgentRole = Exclude<WorkspaceRole, 'verifier'>;

/**
 * A turn of an agent as a command in its checkout. What it prints is its message, what it says to the side is progress, an
 * exit code but 0 is a failure of the provider. No key belongs in here: whatever is, can be read in the workspace.
 */
export interface AgentCommand {
  /**
   * `{prompt}` stands for the prompt, whole; without one the prompt comes on standard input. In any word, and in the environment,
   * `{model}` is the URL of the way to the role's model, without a slash at its end, and `{token}` what takes the place of a key there.
   */
  readonly argv: readonly string[];
  /** The same for every turn after the first, when the command keeps a session of its own; `null`: as the first. */
  readonly resume: readonly string[] | null;
  /** `{gateway}` stands for the URL of the workspace's way out. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories of this machine that the command needs, shown read-only. */
  readonly mounts: readonly Bind[];
  /** Seconds; whoever asks for the turn usually gives up before. */
  readonly timeoutSecs: number;
}

/** `scripted`: the agent of the example, which decides from what it reads in its checkout. */
export type AgentChoice = 'scripted' | AgentCommand;

export interface RuntimeSettings {
  /** Of this runtime alone, mode 0700; made when it is missing. Its path must be short enough for a socket in it. */
  readonly directory: string;
  /** The gateway's unix socket; its directory is shown to the workspaces. */
  readonly gatewaySocket: string;
  /** Where harnesses and executors write what they have to say; `null` for nowhere. */
  readonly logFile: string | null;
  readonly agents: Readonly<Record<AgentRole, AgentChoice>>;
  /** The command policy's documents, when the gateway does not use those that come with the program. */
  readonly policyDirectory?: string;
  /** Of each workspace, memory and processes; those of `local/workspace/bounds.ts` unless given. */
  readonly bounds?: WorkspaceBounds;
  /** Of each workspace, what it holds of the disk; {@link DEFAULT_DISK_BOUNDS} unless given. */
  readonly disk?: Partial<DiskBounds>;
}

export interface DiskBounds {
  /** Bytes and files below a workspace's directory. */
  readonly bytes: number;
  readonly files: number;
  /** When less is left of the disk, the workspace that holds most of it ends: what else lives there does not survive a full one. */
  readonly freeBytes: number;
  /** Milliseconds between two looks. */
  readonly lookMs: number;
}

/** Twice what a run may write by the shipped policies, and everything beside it. */
export const DEFAULT_DISK_BOUNDS: DiskBounds = {
  bytes: 32 * 1024 ** 3,
  files: 4_000_000,
  freeBytes: 2 * 1024 ** 3,
  lookMs: 500,
};
