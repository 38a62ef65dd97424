/** Preparation: what a policy lets an executor do before a command, and what it says of it (spec/delegated-verification.md section 3). */
import type { ContentDigest } from '../digest.ts';
import type { RegistryName } from '../egress.ts';

/** Tools that can prepare; each has its own rules for what it may be handed (`activities/executor/prepare/`). */
export const PREPARE_TOOLS = ['npm', 'pnpm', 'cargo', 'go', 'python3'] as const;
export type PrepareTool = (typeof PREPARE_TOOLS)[number];

export interface PrepareStep {
  readonly id: string;
  readonly tool: PrepareTool;
  /** What runs, one after the other, each beginning with the tool. Fixed here, nothing of it can be asked for. */
  readonly commands: readonly (readonly string[])[];
  /** The first of these that the commit has is used; without any there is nothing to prepare from. */
  readonly lockfiles: readonly string[];
  readonly registries: readonly RegistryName[];
  readonly timeoutSecs: number;
  /** Whether packages' own install scripts and source builds may run. */
  readonly installScripts: boolean;
  /** Bytes that may be written and that may be fetched, each. */
  readonly maxBytes: number;
  /** Forced over the policy's base environment while it prepares. */
  readonly environment: Readonly<Record<string, string>>;
  /** Forced over the command's environment once something is prepared. */
  readonly provides: Readonly<Record<string, string>>;
}

export const PREPARE_OUTCOMES = ['prepared', 'not_needed', 'failed', 'timed_out', 'cancelled'] as const;
export type PrepareOutcome = (typeof PREPARE_OUTCOMES)[number];

/** What an executor says of a preparation. */
export interface PrepareStatement {
  readonly step: string;
  readonly tool: PrepareTool;
  readonly commands: readonly (readonly string[])[];
  readonly registries: readonly RegistryName[];
  /** `none`: it did not come to a look-up. */
  readonly cache: 'hit' | 'miss' | 'none';
  /** Files of the commit that it read, with the digests of their bytes there. */
  readonly lockfiles: readonly { readonly path: string; readonly sha256: ContentDigest }[];
  readonly duration_ms: number;
  readonly outcome: PrepareOutcome;
  /** Why it is not `prepared`; empty otherwise. */
  readonly reason: string;
  /** Requests to registries, those of them that were refused, and bytes that came. */
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
}
