/**
 * The port between the local Coder's server and the compute of its workspaces. The server keeps what the API tells
 * (builds, jobs, agents, chats) and decides when a build runs, takes time, fails or is cancelled; a runtime makes the
 * workspace real: directory, process tree, agent, turns. `local/coder/runtime/` is the real one (`openProcessRuntime`),
 * `SimulatedRuntime` has no processes.
 *
 * In the words of the real server: a build is Terraform, `apply` is its apply, a runtime's workspace is the resource
 * that it leaves. The server never asks for two builds of one workspace at once.
 */

/** What one agent is told by its template; the server's faults come in here, so a runtime needs no parameter names for them. */
export interface AgentPlan {
  /** Id of the agent resource; a new one for each start build. Every event names it. */
  readonly id: string;
  /** The secret that the agent authenticates with. A rebuilt workspace's old token is dead. */
  readonly token: string;
  /** `never`: the agent is not started, so that the server's connection time-out passes. */
  readonly connects: 'soon' | 'never';
  /** Exit code that the start script must end with; `null` runs the real one and takes its own. */
  readonly startExit: number | null;
  /** Milliseconds that the start script sleeps first. */
  readonly startDelayMs: number;
}

/** A start build. */
export interface RuntimeStart {
  readonly workspaceId: string;
  readonly buildNumber: number;
  /** Name of the workspace, fit for a host name. */
  readonly name: string;
  readonly ownerName: string;
  readonly templateName: string;
  /** Rich parameters by name, defaults filled in (`schemas/workspace/parameters.ts` names ours). */
  readonly parameters: Readonly<Record<string, string>>;
  /** The run parameter; empty when the template has none. Compute is labelled with it. */
  readonly run: string;
  readonly agent: AgentPlan;
}

/** A stop or delete build. */
export interface RuntimeEnd {
  readonly workspaceId: string;
  readonly buildNumber: number;
  readonly run: string;
}

/** What a build is given while it runs. */
export interface BuildWatch {
  /** Aborted when the build is cancelled; the call must then settle within a second or so, `failed`. */
  readonly signal: AbortSignal;
  /** One line of the build's log. */
  log(line: {
    readonly stage: string;
    readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly text: string;
  }): void;
}

/** `error` is one line for people: it becomes `job.error`. A call that throws counts as failed. */
export type BuildOutcome = { readonly outcome: 'succeeded' } | { readonly outcome: 'failed'; readonly error: string };

/**
 * What an agent tells its server. Sent as they happen, after `apply` has been called (events that come before it
 * resolves are kept by the server). `connecting` and `timeout` are not sent: the server derives them from never having
 * heard `connected`. A process that vanishes is `disconnected`, its lifecycle stays.
 */
export type AgentEvent =
  | { readonly agentId: string; readonly event: 'connected' | 'disconnected' }
  | {
      readonly agentId: string;
      readonly event: 'lifecycle';
      readonly state:
        | 'starting'
        | 'ready'
        | 'start_error'
        | 'start_timeout'
        | 'shutting_down'
        | 'shutdown_error'
        | 'shutdown_timeout'
        | 'off';
    }
  | {
      readonly agentId: string;
      readonly event: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly text: string;
    };

/** An agent that the server believes alive when it starts again. */
export interface KnownAgent {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly run: string;
}

/** One turn of a chat that is bound to a workspace. */
export interface RuntimeTurn {
  readonly chatId: string;
  /** The workspace that the chat is bound to, whatever became of it; null for a chat without one. */
  readonly workspaceId: string | null;
  /** Name of the configured model. */
  readonly model: string;
  /** 1, and more for a turn that is tried again: after a retryable failure, or because the server was killed in it. */
  readonly attempt: number;
  /** Labels of the chat. */
  readonly labels: Readonly<Record<string, string>>;
  /** The user's message of this turn. */
  readonly prompt: string;
  /** Everything before it, oldest first. */
  readonly history: readonly { readonly role: 'user' | 'assistant' | 'tool'; readonly text: string }[];
}

export interface TurnWatch {
  /** Aborted by an interrupt; the call must then end what it runs and settle, whatever the outcome. */
  readonly signal: AbortSignal;
  /** A message of the agent as soon as it is whole: each gets a message id, which is how progress is seen. */
  readonly message: (message: TurnMessage) => void;
}

/** `tool`: one command that ran in the workspace; the server makes the call and its result of it. */
export type TurnMessage =
  | { readonly role: 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly command: string; readonly output: string; readonly exitCode: number };

/** Kinds of the real server's provider failures. */
export type TurnFailureKind =
  | 'generic'
  | 'overloaded'
  | 'rate_limit'
  | 'timeout'
  | 'stream_silence_timeout'
  | 'auth'
  | 'config'
  | 'usage_limit'
  | 'missing_key'
  | 'provider_disabled'
  | 'content_filter';

/**
 * `answered`: the turn ended (its messages went through the watch; an empty turn is allowed). `no_agent`: the workspace
 * is stopped, gone or its agent is away; the server writes the tool result that the real one writes, and the chat is
 * idle again. `failed`: the chat becomes `error`; with `retryable` the server tries again as the real one does.
 */
export type TurnOutcome =
  | { readonly outcome: 'answered' | 'no_agent' | 'interrupted' }
  | {
      readonly outcome: 'failed';
      readonly kind: TurnFailureKind;
      readonly message: string;
      readonly retryable: boolean;
      readonly statusCode: number | null;
    };

/** Compute that exists now, whatever the server thinks of its workspace. */
export interface Compute {
  readonly run: string;
  readonly workspaceId: string;
}

export interface WorkspaceRuntime {
  /**
   * Called once, before anything else. Events go to `listener` from here on. For each agent of `known` that is still
   * there it sends `connected`, for each that is not `disconnected`: compute may have died with the server, or not.
   */
  open(listener: (event: AgentEvent) => void, known: readonly KnownAgent[]): Promise<void>;
  /**
   * Makes the workspace and starts its agent; resolves when the resources are there, not when the agent is ready. A
   * start of a running workspace replaces it (old agent ends, the directory stays). A failed or cancelled apply may leave
   * compute behind, as in the field: `survivors` lists it, `sweep` ends it.
   */
  apply(start: RuntimeStart, watch: BuildWatch): Promise<BuildOutcome>;
  /** Ends the processes, keeps the directory. Repeating it succeeds. */
  stop(end: RuntimeEnd, watch: BuildWatch): Promise<BuildOutcome>;
  /** Ends the processes and removes the directory. Repeating it succeeds. Not called for an orphan delete. */
  destroy(end: RuntimeEnd, watch: BuildWatch): Promise<BuildOutcome>;
  /** Runs one turn in the workspace. Never two at once for one chat: what a killed server left of an earlier attempt is ended first. */
  runTurn(turn: RuntimeTurn, watch: TurnWatch): Promise<TurnOutcome>;
  /** All compute that is alive, also what deleted workspaces left. */
  survivors(): Promise<readonly Compute[]>;
  /** Ends all compute of this run, directory included; resolves when its processes are gone. Says how many it ended. */
  sweep(run: string): Promise<number>;
  /** The server ends: everything ends with it. */
  close(): Promise<void>;
}
