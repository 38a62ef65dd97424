/**
 * What the server of workspaces and the harness in one say to each other, a line of JSON each, over a socket that the harness
 * inherits and that has no name inside. A connection carries one request; when it is cut, the turn it asked for ends.
 */

export type HarnessRequest =
  /** Everything that was said of the start, and what is said from now on. */
  | { readonly ask: 'watch' }
  /** Runs a command in the checkout. */
  | ({ readonly ask: 'turn' } & TurnCommand);

export interface TurnCommand {
  /**
   * In a word `{model}` stands for the URL of the way to the role's model and `{token}` for what is shown there; a word
   * `{prompt}` stands for the prompt.
   */
  readonly argv: readonly string[];
  /** What is put in the place of `{prompt}`, as it is; without such a word the command reads it. */
  readonly prompt: string;
  /** Beside what every turn has; the same stand-ins, and `{gateway}` for the URL of the way out. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSecs: number;
}

export type Lifecycle = 'starting' | 'ready' | 'start_error' | 'shutting_down' | 'off';

export type WatchEvent =
  /** First on every watch: which start of the harness this is. */
  | { readonly event: 'boot'; readonly boot: string }
  | { readonly event: 'lifecycle'; readonly n: number; readonly state: Lifecycle }
  | { readonly event: 'log'; readonly n: number; readonly level: 'info' | 'error'; readonly text: string };

export type TurnEvent =
  /** Lines of progress, at most {@link MAX_PROGRESS_BYTES}. */
  | { readonly event: 'progress'; readonly text: string }
  | {
      readonly event: 'ended';
      readonly code: number | null;
      readonly signal: string | null;
      readonly timedOut: boolean;
      /** The end of its output, at most {@link MAX_MESSAGE_BYTES}: the agent's message. */
      readonly output: string;
      /** The end of what it said to the side. */
      readonly trouble: string;
    }
  /** It could not be started. */
  | { readonly event: 'refused'; readonly reason: string };

export const MAX_MESSAGE_BYTES = 64 * 1024;
export const MAX_PROGRESS_BYTES = 16 * 1024;
export const MAX_TROUBLE_BYTES = 4 * 1024;
/** Longest line either side reads: a prompt with everything around it. */
export const MAX_LINE_BYTES = 1024 * 1024;
