/** The operator API's calls about decisions (see `schemas/operator-api.ts`). They read the store and write nothing. */
import type { DecisionStanding } from './activities.ts';
import type { SignedGateDecision } from './decision.ts';
import type { OverrideRule } from './policy.ts';
import type { GateDecisionWord, GateKind } from './vocabulary.ts';

const ROOT = '/v1/operator/gates';

/** `id`: an evaluation key, a subject's digest (with or without `sha256:`) or a ticket; of the latter two the newest decision. */
export const GATE_PATHS = {
  root: ROOT,
  /** GET → {@link GateAnswer} */
  decision: (id: string) => `${ROOT}/${encodeURIComponent(id)}`,
  /** GET → {@link GateHistoryAnswer} */
  history: (id: string) => `${ROOT}/${encodeURIComponent(id)}/history`,
} as const;

export interface GateAnswer {
  readonly schema: 'portcullis/gate-view/v1';
  /** `null` when the subject cannot be read. */
  readonly ticket: string | null;
  /** As it is stored; `standing` says whether it is genuine and counts. */
  readonly decision: SignedGateDecision;
  readonly standing: DecisionStanding;
  /** What the policy that it was decided by lets people override; empty when it cannot be read. */
  readonly overrides: readonly OverrideRule[];
  /** What it was decided on, in the order of the indexes; the first {@link EVIDENCE_LINES}. */
  readonly evidence: readonly EvidenceLine[];
}

export const EVIDENCE_LINES = 200;

/** One record behind a decision, in one line. */
export interface EvidenceLine {
  readonly kind: 'attempt' | 'check' | 'review' | 'finding' | 'disposition' | 'human' | 'unreadable';
  /** What it is about: a check, a class of verifier, a finding, a person. */
  readonly about: string;
  readonly status: string;
  /** Counts, who observed it, the review: for people. */
  readonly detail: string;
  readonly digest: string;
}

export interface GateHistoryEntry {
  readonly gate: GateKind;
  readonly subjectDigest: string;
  /** `null` for a subject that was never decided about. */
  readonly evaluationKey: string | null;
  /** `null` also for a decision that cannot be read. */
  readonly decision: GateDecisionWord | null;
  readonly execution: { readonly id: string; readonly generation: number } | null;
  /** Milliseconds since the epoch. */
  readonly asOf: number | null;
  /** Code and reference of the first reason. */
  readonly first: { readonly code: string; readonly ref: string } | null;
  readonly applicability: DecisionStanding['applicability'] | null;
}

export interface GateHistoryAnswer {
  readonly schema: 'portcullis/gate-history/v1';
  readonly id: string;
  /** Newest first. */
  readonly items: readonly GateHistoryEntry[];
  /** Older ones that are not listed. */
  readonly omitted: number;
}
