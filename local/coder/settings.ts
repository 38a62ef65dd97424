/** What a local Coder is started with; every default is the real server's unless said. */
import type { WorkspaceRuntime } from './runtime.ts';
import type { Seed } from './seed.ts';

export interface LocalCoderOptions {
  /** SQLite file of its state; `:memory:` keeps nothing. */
  readonly stateFile: string;
  readonly runtime: WorkspaceRuntime;
  /** 0 takes any. Always on loopback. */
  readonly port?: number;
  /** Users, tokens and templates that must be there. */
  readonly seed?: Seed;
  /** Real milliseconds for one of its own. */
  readonly timeScale?: number;
  /** How many builds run at once. */
  readonly provisioners?: number;
  /** What Terraform takes beside the resource, for each build, in milliseconds. */
  readonly terraformMs?: number;
  /** How long Terraform takes to end when a build is cancelled, in milliseconds. */
  readonly interruptMs?: number;
  /** How long a create or build request checks before it inserts: the window in which races are lost. Milliseconds. */
  readonly checkMs?: number;
  /** Requests a minute for each user and path; `null` for no limit. */
  readonly requestsPerMinute?: number | null;
  /** A running job whose provisioner is dead is failed after this long; a pending one after six times this. */
  readonly hungMs?: number;
  /** How often hung jobs and deadlines are looked for. */
  readonly tickMs?: number;
  /** How long an agent may take to connect, in seconds. */
  readonly connectionTimeoutSecs?: number;
  /** Between pings of a watch stream. */
  readonly pingMs?: number;
}

export type LocalCoderSettings = Required<LocalCoderOptions>;

export function localCoderSettings(options: LocalCoderOptions): LocalCoderSettings {
  return {
    port: 0,
    seed: { users: [], templates: [], provider: null },
    timeScale: 1,
    provisioners: 3,
    terraformMs: 900,
    interruptMs: 500,
    checkMs: 35,
    requestsPerMinute: 512,
    hungMs: 300_000,
    tickMs: 60_000,
    connectionTimeoutSecs: 20,
    pingMs: 15_000,
    ...options,
  };
}
