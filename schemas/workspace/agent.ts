/**
 * The agent port as workflows see it: one turn of an agent in a ready workspace. The answer is for the record; results are read
 * from git and from what the agent appended through the gateway (spec/workspaces.md section 3).
 */
export interface AgentTurn {
  readonly tenant: string;
  /** Run of the workspace (its workflow id); the chat carries it as a label. */
  readonly run: string;
  readonly coderWorkspaceId: string;
  /** Counts the turns of this run from 1: a repeated call with the same number never asks twice. */
  readonly turn: number;
  readonly prompt: string;
  /** How long the turn may take, and how long it may show no progress. Seconds. */
  readonly timeoutSecs: number;
  readonly stallSecs: number;
}

/** A named outcome each; only `answered` is not a fault of the provider, and none of them is a verdict. */
export type AgentAnswer =
  | { readonly outcome: 'answered'; /** The final message, at most 64 KiB. */ readonly message: string }
  | { readonly outcome: 'silent' | 'stalled' | 'timed_out' | 'died'; readonly message: '' }
  | {
      readonly outcome: 'errored';
      readonly message: '';
      /** Kind from the provider, never its text. */ readonly kind: string;
    };

export interface AgentActivities {
  /** Heartbeats; a cancel interrupts the turn. @throws `coder_unavailable` and the other codes of the Coder port */
  agentTurn(turn: AgentTurn): Promise<AgentAnswer>;
}
