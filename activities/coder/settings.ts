/** How the client talks to a Coder server; every default is here, so that inner code never asks "undefined?". */
import { setTimeout as pause } from 'node:timers/promises';

/** One HTTP exchange, for metrics and logs. Never holds the token or a body. */
export interface CoderExchange {
  /** Ours, sent as `X-Request-Id`. */
  readonly id: string;
  readonly method: string;
  /** The path of the document, `{workspace}` and all, so that it is fit for a metric's label. */
  readonly path: string;
  readonly status: number;
  /** The server's own; null when it gave none. */
  readonly serverRequestId: string | null;
  /** The version that answered; null when a proxy did. */
  readonly serverVersion: string | null;
}

export interface CoderOptions {
  /** Origin of the server. */
  readonly url: string;
  readonly token: string;
  /** For one HTTP attempt with its body, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long one call may wait for a rate limit in all, in milliseconds; longer gives `coder_rate_limited`. */
  readonly rateLimitWaitMs?: number;
  readonly onExchange?: (exchange: CoderExchange) => void;
  /** Waits; tests put a clock of their own here. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export type CoderSettings = Required<CoderOptions>;

export function coderSettings(options: CoderOptions): CoderSettings {
  return {
    timeoutMs: 30_000,
    rateLimitWaitMs: 65_000,
    onExchange: () => {},
    pause: (ms, signal) => pause(ms, undefined, { signal }),
    ...options,
  };
}
