/** The command policy: documents that list whole commands, and the ruling on one argv (spec/delegated-verification.md section 3). */
import type { Digest } from '../../schemas/digest.ts';
import type { CommandLimits, CountRule } from '../../schemas/verify/action.ts';
import type { PrepareStep } from '../../schemas/verify/prepare.ts';
import type { WorkingDirectory } from '../../schemas/verify/request.ts';

/** A token of a template: literal text, or a slot that takes one bounded value. */
export type TemplateToken = string | { readonly slot: string };

export interface CommandTemplate {
  readonly id: string;
  /** What people write. Same length, equal literals, valid slots; there is no prefix rule. */
  readonly argv: readonly TemplateToken[];
  /** What runs: the template's own flags added. Slots by name. */
  readonly executes: readonly TemplateToken[];
  readonly slots: Readonly<Record<string, { readonly pattern: string; readonly maxLength: number }>>;
  readonly cwd: readonly WorkingDirectory[];
  readonly exitCodes: readonly number[];
  readonly maxTimeoutSecs: number;
  /** Forced over the policy's base environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** `null` for templates that run no tests. */
  readonly counts: CountRule | null;
  /** Id of the preparation that runs before; `null` for none. */
  readonly prepare: string | null;
  /** Files through which a repository chooses what runs; digested at base and head. */
  readonly definitionFiles: readonly string[];
}

export interface CommandPolicy {
  readonly schema: 'portcullis/command-policy/v1';
  readonly id: string;
  readonly revision: number;
  /** Logical tool ids; the executor maps each to a real absolute path. */
  readonly tools: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Omit<CommandLimits, 'timeoutSecs'>;
  /** Preparations that templates name. */
  readonly preparations: readonly PrepareStep[];
  readonly templates: readonly CommandTemplate[];
}

/** A policy with the digest of the document it came from. */
export interface LoadedCommandPolicy {
  readonly policy: CommandPolicy;
  readonly digest: Digest<'policy'>;
}

export interface CommandAsk {
  readonly argv: readonly string[];
  readonly cwd: WorkingDirectory;
  readonly timeoutSecs: number;
  readonly expectExitCode: number;
  readonly artifacts: readonly string[];
}

export type CommandRefusal =
  'tool_unknown' | 'template_mismatch' | 'slot_invalid' | 'cwd_invalid' | 'expect_not_permitted' | 'limit';

export type CommandRuling =
  | {
      readonly allowed: true;
      readonly template: string;
      readonly argvExecuted: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly limits: CommandLimits;
      readonly counts: CountRule | null;
      readonly prepare: PrepareStep | null;
      readonly definitionFiles: readonly string[];
    }
  | { readonly allowed: false; readonly reason: CommandRefusal; readonly detail: string };

/**
 * Rules on one argv. Pure, and the same code at the gateway and at the executor.
 * Implemented by `evaluateCommand` in `evaluate.ts`.
 */
export type EvaluateCommand = (policy: CommandPolicy, ask: CommandAsk) => CommandRuling;
