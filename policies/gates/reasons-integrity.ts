/** Case 1 of the gate: why the evidence or the request itself cannot be trusted. */
import type { GateCase } from '../../schemas/gate/vocabulary.ts';
import type { OutcomeRule } from './precedence.ts';

export interface ReasonRow {
  readonly case: GateCase;
  readonly outcome: OutcomeRule;
  /** `{ref}` is what the reason is about. */
  readonly sentence: string;
  readonly mend: string;
}

const integrity = { case: 'integrity', outcome: 'blocked' } as const;

export const INTEGRITY_REASONS = {
  evidence_missing_record: {
    ...integrity,
    sentence: 'An index names the record {ref} and the store does not have it.',
    mend: 'Restore the record from a backup; until then nothing that rests on this subject can be judged.',
  },
  evidence_tampered: {
    ...integrity,
    sentence: 'The bytes of {ref} do not give the digest that its index names.',
    mend: 'Treat it as an incident: find who could write that record, and judge a new execution.',
  },
  evidence_malformed: {
    ...integrity,
    sentence: 'The record {ref} does not follow its schema.',
    mend: 'Find the writer of that record; a new execution gets new records.',
  },
  evidence_foreign: {
    ...integrity,
    sentence: 'The record {ref} belongs to another tenant, execution, head, check or subject.',
    mend: 'Find out how it came into the index of this subject.',
  },
  evidence_stale: {
    ...integrity,
    sentence: 'The newest pass of the time-sensitive check {ref} is past its horizon.',
    mend: 'Run that check again, then evaluate again.',
  },
  evidence_from_future: {
    ...integrity,
    sentence: 'The record {ref} says it was observed after the evaluation began.',
    mend: 'Check the clocks of the control plane.',
  },
  subject_names_other_policy: {
    ...integrity,
    sentence: 'The subject pins another gate policy than {ref}.',
    mend: 'Make a new subject under the policy in force.',
  },
  subject_names_other_definition: {
    ...integrity,
    sentence: 'The subject pins another gate definition than {ref}.',
    mend: 'Make a new subject under the definition in force.',
  },
  definition_names_other_policy: {
    ...integrity,
    sentence: 'The gate definition applies another policy than {ref}.',
    mend: 'Register a definition that names this revision of the policy.',
  },
  evaluator_version_other: {
    ...integrity,
    sentence: 'The gate definition is for the evaluator {ref}.',
    mend: 'Evaluate with that version, or register a definition for this one.',
  },
  subject_without_required_criteria: {
    ...integrity,
    sentence: 'No criterion of the subject {ref} is required, so a pass would say nothing.',
    mend: 'Mark at least one criterion as required and make a new subject.',
  },
  independence_violation: {
    ...integrity,
    sentence: 'The verifier of the run {ref} is the producer, or acts for it, or the other way round.',
    mend: 'Start a run by a principal that shares no lineage with the producer, on a new subject.',
  },
  finding_conflict: {
    ...integrity,
    sentence: 'The finding {ref} is there twice with different content.',
    mend: 'Find who reused that id; findings are immutable.',
  },
  evidence_too_much: {
    ...integrity,
    sentence: 'There is more evidence than one evaluation takes ({ref}).',
    mend: 'Find who appends so much to this subject, and judge a new execution.',
  },
  evaluator_error: {
    ...integrity,
    sentence: 'The evaluator failed on this input ({ref}).',
    mend: 'Report it with the request: it should not happen.',
  },
} as const satisfies Record<string, ReasonRow>;
