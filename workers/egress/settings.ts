/** What an egress process works with: where each registry is, and its bounds. All of it total, made once at the start. */
import type { Logger } from 'pino';
import type { RegistryName } from '../../schemas/egress.ts';
import type { ModelLimits } from './model-call.ts';
import type { ModelHosts } from './model-hosts.ts';

/** One registry's server. Its credential never leaves this process. */
export interface Upstream {
  /** Ends with a slash. */
  readonly base: URL;
  /** Value of `Authorization`; `null` for none. */
  readonly authorization: string | null;
}

export type Upstreams = Readonly<Record<Exclude<RegistryName, 'crates' | 'go-sumdb'>, Upstream>>;

export interface EgressLimits {
  /** Bytes of an answer that is passed on, and of one that is rewritten and so held in memory. */
  readonly answerBytes: number;
  readonly metadataBytes: number;
  /** Milliseconds until an answer begins, and until it ends. */
  readonly firstByteMs: number;
  readonly answerMs: number;
  readonly redirects: number;
  /** Requests at once, of one pair and in all. */
  readonly perHolder: number;
  readonly total: number;
}

export const DEFAULT_EGRESS_LIMITS: EgressLimits = {
  answerBytes: 1024 * 1024 * 1024,
  metadataBytes: 64 * 1024 * 1024,
  firstByteMs: 30_000,
  answerMs: 300_000,
  redirects: 3,
  perHolder: 24,
  total: 192,
};

export interface EgressSettings {
  /** A loopback address, or one that only the gateway reaches. */
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  /** What the gateway shows to be the gateway: 32 random bytes as base64url. */
  readonly key: string;
  readonly upstreams: Upstreams;
  readonly logger: Logger;
  readonly limits?: Partial<EgressLimits>;
  /** Hosts of models by name; without one there is no way to a model. */
  readonly models?: ModelHosts;
  readonly modelLimits?: Partial<ModelLimits>;
}
