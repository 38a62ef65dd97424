/**
 * What a reviewer may say to the machine beside its verdict, in the same fenced `json` block (docs/concepts/verdicts.md): what it
 * found, and what became of the findings that stopped an earlier round. As it came: which of it counts, and for what, is ours.
 */
import type { Causality, FindingDisposition, FindingType, Severity, Standing } from '../gate/vocabulary.ts';

/** The most of either in one review. A block holds 16 KiB in all. */
export const REPORT_LIMITS = {
  findings: 16,
  dispositions: 64,
  evidence: 8,
  /** Characters of a text. */
  text: 1000,
} as const;

/** Lines of a file at the commit that is judged; the first line is 1 and both ends are meant. */
export interface ReportedLines {
  readonly path: string;
  readonly from_line: number;
  readonly to_line: number;
}

/** It carries no id, no subject and no digest: those are ours. */
export interface ReportedFinding {
  readonly type: FindingType;
  readonly severity: Severity;
  /** What the reviewer asks for; what it gets is computed (`standingOf`). */
  readonly standing: Standing;
  readonly causality: Causality;
  /** Where it breaks. */
  readonly location?: ReportedLines | undefined;
  /** The part of the change that causes it, when that is elsewhere. */
  readonly changed_range?: ReportedLines | undefined;
  /** Id of a criterion of the ticket. */
  readonly criterion?: string | undefined;
  /** It breaks the security requirement of the subject; only with the type `security`. */
  readonly security_requirement?: boolean | undefined;
  readonly failure_scenario: string;
  readonly required_fix: string;
  /** 0 to 100, advisory. */
  readonly confidence?: number | undefined;
  /** Id of the open finding that this one continues. */
  readonly prior_finding?: string | undefined;
}

export interface ReportedDisposition {
  /** Id of a prior blocker, as the prompt names it. */
  readonly finding: string;
  /** `not_addressed` is only ever ours. */
  readonly disposition: Exclude<FindingDisposition, 'not_addressed'>;
  /** Names of evidence of this subject: `diff`, `PLAN.md`, ids of its checks. At least one for `resolved`. */
  readonly evidence?: readonly string[] | undefined;
  /** Lower-case words joined by underscores. */
  readonly reason: string;
}

export interface ReviewReport {
  readonly findings: readonly ReportedFinding[];
  readonly dispositions: readonly ReportedDisposition[];
}

export const EMPTY_REPORT: ReviewReport = { findings: [], dispositions: [] };
