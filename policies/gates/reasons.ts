/** Every reason a decision can name: its case, what it comes to, a sentence, and what a person can do about it. */
import { INTEGRITY_REASONS, type ReasonRow } from './reasons-integrity.ts';

const securityFailure = { case: 'security_failure', outcome: { mapping: 'securityFailure' } } as const;
const contradiction = { case: 'contradiction', outcome: { mapping: 'contradiction' } } as const;
const open = { case: 'open_blocker', outcome: 'rework' } as const;
const missing = { case: 'missing', outcome: 'blocked' } as const;
const inconclusive = { case: 'inconclusive', outcome: { mapping: 'inconclusive' } } as const;
const notTested = { case: 'inconclusive', outcome: { mapping: 'notTested' } } as const;
const unavailable = { case: 'inconclusive', outcome: { mapping: 'unavailable' } } as const;
const human = { case: 'human_absent', outcome: 'human_required' } as const;

export const REASONS = {
  ...INTEGRITY_REASONS,
  // 2. A required check failed
  check_failed: {
    case: 'hard_failure',
    outcome: { mapping: 'hardFailure' },
    sentence: 'The check {ref} failed on this head.',
    mend: 'Mend what it reports and submit a new head; running it again does not clear a failure.',
  },
  // 3. Security
  security_check_failed: {
    ...securityFailure,
    sentence: 'The security check {ref} failed on this head.',
    mend: 'Mend what it reports and submit a new head.',
  },
  security_finding_open: {
    ...securityFailure,
    sentence: 'The security finding {ref} blocks this change.',
    mend: 'Do what its required fix says and submit a new head.',
  },
  security_verifier_failed: {
    ...securityFailure,
    sentence: 'The security verifier failed the criterion {ref}.',
    mend: 'See the findings of that run.',
  },
  // 4. Contradiction and instability
  check_unstable: {
    case: 'contradiction',
    outcome: { mapping: 'unstable' },
    sentence: 'The check {ref} both passed and failed on this head.',
    mend: 'Find why it is unstable; a new head starts clean.',
  },
  check_and_verifier_disagree: {
    ...contradiction,
    sentence: 'A verifier passed everything although the check {ref} failed.',
    mend: 'Mend the check; look at what that verifier read.',
  },
  criterion_contradicted: {
    ...contradiction,
    sentence: 'One run passed the criterion {ref} and another failed it.',
    mend: 'A person has to look at both; neither wins by being newer or more frequent.',
  },
  disposition_contradicted: {
    ...contradiction,
    sentence: 'One run calls the blocker {ref} answered and another says it is still there.',
    mend: 'A person has to look at both.',
  },
  humans_disagree: {
    ...contradiction,
    sentence: 'A person rejected this subject ({ref}) and another answer approves it.',
    mend: 'They have to agree; then a new subject.',
  },
  // 5. Open blockers and failed criteria
  criterion_failed: {
    ...open,
    sentence: 'The criterion {ref} was judged and does not hold.',
    mend: 'See the findings for that criterion and submit a new head.',
  },
  blocker_open: {
    ...open,
    sentence: 'The finding {ref} blocks this change.',
    mend: 'Do what its required fix says and submit a new head.',
  },
  prior_blocker_open: {
    ...open,
    sentence: 'The earlier blocker {ref} is still there.',
    mend: 'Do what its required fix says and submit a new head.',
  },
  prior_blocker_not_addressed: {
    ...open,
    sentence: 'No run said anything of the earlier blocker {ref}, so it stays open.',
    mend: 'Ask for a run that answers it by its id.',
  },
  resolution_unsupported: {
    ...open,
    sentence: 'The earlier blocker {ref} is called answered without evidence on this subject.',
    mend: 'Ask for a run that cites evidence of this subject, or names the version that took the matter away.',
  },
  human_rejected: {
    ...open,
    sentence: 'A person rejected this subject ({ref}).',
    mend: 'See the reason of that decision and submit a new head.',
  },
  // 6. Missing evidence
  check_missing: {
    ...missing,
    sentence: 'The required check {ref} was not run on this head.',
    mend: 'Run it: portcullis verify, with executor "verifier".',
  },
  check_not_in_subject: {
    ...missing,
    sentence: 'The policy requires the check {ref}, which the subject does not name.',
    mend: 'Make a new subject that names it.',
  },
  check_definition_not_accepted: {
    ...missing,
    sentence: 'The subject names the check {ref} with a definition that the policy does not accept.',
    mend: 'Use one of the definitions that the policy lists, in a new subject.',
  },
  check_attestation: {
    ...missing,
    sentence: 'The check {ref} passed only where the producer could have written the answer.',
    mend: 'Run it in a fresh workspace: executor "verifier".',
  },
  criterion_missing: {
    ...missing,
    sentence: 'No run has a row for the criterion {ref}.',
    mend: 'Start a verification run.',
  },
  criterion_unsupported: {
    ...missing,
    sentence:
      'The criterion {ref} was passed on evidence that is not of this subject, or by a method it does not permit.',
    mend: 'Start a run that cites evidence of this subject, by a method the criterion names.',
  },
  verifier_missing: {
    ...missing,
    sentence: 'Too few independent runs of the verifier class {ref} are there.',
    mend: 'Start one by another principal of that class.',
  },
  // 7. Inconclusive, not tested, unavailable
  check_inconclusive: {
    ...inconclusive,
    sentence: 'The check {ref} ended without an answer.',
    mend: 'See why it could not tell, then run it again.',
  },
  criterion_inconclusive: {
    ...inconclusive,
    sentence: 'A verifier looked at the criterion {ref} and could not tell.',
    mend: 'A person has to look; another run does not take it back.',
  },
  check_not_tested: {
    ...notTested,
    sentence: 'The check {ref} ran too few tests, or skipped too many, to say anything.',
    mend: 'See its counts: a run that executes nothing is no evidence.',
  },
  criterion_not_tested: {
    ...notTested,
    sentence: 'No verifier tested the criterion {ref}.',
    mend: 'Start a run whose methods reach it.',
  },
  check_unavailable: {
    ...unavailable,
    sentence: 'The check {ref} has more attempts without an answer than the policy lets a completed one outweigh.',
    mend: 'See why attempts were lost; a new head starts clean.',
  },
  criterion_unavailable: {
    ...unavailable,
    sentence: 'The run that should have judged the criterion {ref} was unavailable. That is no failure of the work.',
    mend: 'Start another run when the cause is gone.',
  },
  verifier_unavailable: {
    ...unavailable,
    sentence: 'The verifier class {ref} was asked and was unavailable.',
    mend: 'Start another run when the cause is gone.',
  },
  // 8. Definitions
  definition_changed: {
    case: 'definition_changed',
    outcome: { mapping: 'definitionChanged' },
    sentence: 'The change edits a file that chooses what the check {ref} runs.',
    mend: 'A person has to see that the check still proves what it proved.',
  },
  // 9. People
  human_missing: {
    ...human,
    sentence: 'Too few people of the role {ref} approved this subject.',
    mend: 'Ask one to decide: portcullis gate decide ID --decision approve.',
  },
  blocker_needs_human: {
    ...human,
    sentence: 'A verifier leaves the blocker {ref} to a person.',
    mend: 'Ask one to decide: portcullis gate decide ID --decision approve.',
  },
} as const satisfies Record<string, ReasonRow>;

export type ReasonCode = keyof typeof REASONS;

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(REASONS, text);
}

/** The sentence for a reason, filled. */
export function sentenceOf(code: ReasonCode, ref: string): string {
  return REASONS[code].sentence.replaceAll('{ref}', () => ref);
}
