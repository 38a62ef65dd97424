/** The operator API's calls about records of evidence and findings. They read the store and write nothing. */
import type { EvidenceProblem, EvidenceRecord } from './evidence-set.ts';
import type { DispositionRecord, Finding } from './finding.ts';
import type { GateKind } from './vocabulary.ts';

const ROOT = '/v1/operator';

export const EVIDENCE_PATHS = {
  evidence: `${ROOT}/evidence`,
  /** GET → {@link EvidenceAnswer}; the query `ticket` says in whose index a record of a check is looked for. */
  record: (digest: string) => `${ROOT}/evidence/${encodeURIComponent(digest)}`,
  findings: `${ROOT}/findings`,
  /** GET → {@link FindingsAnswer} */
  findingsOf: (ticket: string) => `${ROOT}/findings/${encodeURIComponent(ticket)}`,
} as const;

export interface EvidenceAnswer {
  readonly schema: 'portcullis/evidence-view/v1';
  readonly digest: string;
  /** `null` when it cannot be read; then `problem` says why. */
  readonly record: EvidenceRecord | null;
  readonly problem: EvidenceProblem | null;
  /**
   * Whether the index that it belongs to lists it: one that no index lists satisfies nothing. `null` where that is not known: a
   * record that cannot be read, or one of a check without a ticket to look in.
   */
  readonly listed: boolean | null;
}

/** Findings that one answer holds. */
export const FINDINGS_LISTED = 500;

export interface FindingsAnswer {
  readonly schema: 'portcullis/findings/v1';
  readonly ticket: string;
  /** Of every subject of the ticket, newest subject first. */
  readonly items: readonly FiledFindingEntry[];
  /** Older ones that are not listed. */
  readonly omitted: number;
}

export interface FiledFindingEntry {
  readonly findingId: string;
  readonly digest: string;
  readonly gate: GateKind;
  /** As it was filed; `null` when its record cannot be read. */
  readonly finding: Finding | null;
  readonly problem: EvidenceProblem | null;
  /** What the newest run that answered it says became of it; `null` when none did. */
  readonly answered: Pick<DispositionRecord, 'disposition' | 'reasonCode' | 'onSubjectDigest' | 'supersededBy'> | null;
}
