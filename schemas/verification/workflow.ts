/**
 * What the ticket workflow asks of the child `verification` (id `verificationWorkflowId`) and hears back: evidence about one
 * exact subject is recorded; the verdict routes; nothing is decided (spec/gate.md section 4).
 */
import type { Digest } from '../digest.ts';
import type { PreflightAnswer } from '../gate/activities.ts';
import type { UnavailableReason } from '../gate/vocabulary.ts';
import type { TicketCheck, TicketDefinition } from '../ticket/definition.ts';
import type { TicketGate } from '../ticket/phase.ts';
import type { TicketAnswer } from '../ticket/state.ts';
import type { VerdictRoute } from '../verdict.ts';

export const VERIFICATION_WORKFLOW = 'verification';

/** Workspaces of one role that one verification may use up; its generations are counted from its number. */
export const SEATS_A_ROLE = 16;
/** A session of a reviewer that fails is tried once more in a fresh workspace. */
export const REVIEW_SESSIONS = 2;
/** Hits of a preflight that an outcome names; all of them are in the decision. */
export const MOST_HITS = 16;

/** Everything of the ticket that a subject is made from, and that an approval token is bound to. */
export interface SubjectParameters {
  readonly tenant: string;
  readonly ticket: string;
  readonly gate: TicketGate;
  readonly execution: { readonly id: string; readonly generation: number };
  readonly stateRevision: number;
  readonly round: number;
  readonly plan: { readonly revision: number; readonly digest: string; readonly commit: string };
  /** `null` for a plan. */
  readonly segment: { readonly n: number; readonly of: number } | null;
  /** What is judged, and what it is judged against. For a merge, `head` is the candidate. */
  readonly change: { readonly base: string; readonly head: string };
  /** The commit of the branch that is judged or combined in the candidate. */
  readonly branchHead: string;
  readonly producer: { readonly run: string };
  readonly definition: TicketDefinition;
  /** Findings that an earlier evaluation left open. */
  readonly priorBlockers: readonly string[];
}

export interface VerificationInput {
  readonly parameters: SubjectParameters;
  /** Made by `recordSubject` from the parameters. */
  readonly subjectDigest: Digest<'subject'>;
  /** Number of the evaluation: last part of the workflow id. */
  readonly n: number;
  /**
   * `checks`: only the required checks are run, in a fresh verifier workspace. `review`: checks that have no answer yet for this
   * head are run first, then a reviewer in a fresh SENTINEL workspace is asked.
   */
  readonly scope: 'checks' | 'review';
  /** The ticket's workflow. */
  readonly owner: string;
  /** Seconds after which it ends as `unavailable` with reason `timeout`. */
  readonly timeoutSeconds: number;
}

/** How one required check came out; the records are in the index. */
export interface CheckOutcome {
  readonly check: TicketCheck['check'];
  /** `unanswered`: time-out, cancelled, lost, unpersisted, unavailable. */
  readonly status: 'satisfied' | 'failed' | 'unanswered' | 'not_tested';
  readonly taskId: string | null;
}

interface Verified {
  /** Ids of records: evidence, reviews, findings. */
  readonly refs: readonly string[];
  readonly checks: readonly CheckOutcome[];
  /** Workflow ids of the workspaces that it used; every one is proved gone or quarantined when it returns. */
  readonly runs: readonly string[];
}

export type VerificationOutcome =
  /** Scope `checks`, or a review that ended before a model was asked. */
  | (Verified & {
      readonly outcome: 'checked';
      /**
       * What is on record decides already, whatever the checks say: one of them failed, once, or a record that is listed is missing
       * or is not what its digest says. The gate is asked, and its decision says why.
       */
      readonly settled?: boolean;
      /** The deciding hits of the preflight, the first {@link MOST_HITS} of them. */
      readonly hits?: PreflightAnswer['hits'];
    })
  /**
   * The reviewer's verdict is evidence. An unreadable verdict is asked for once more in the same session; a second unreadable one
   * routes `human` and says so.
   */
  | (Verified & {
      readonly outcome: 'reviewed';
      readonly route: Exclude<VerdictRoute, 'reask'>;
      readonly failureClass: string | null;
      readonly reviewDigest: string;
      /** Nobody asked for a person: no verdict could be read, also not from the second answer. */
      readonly unreadable?: boolean;
      /** Ids of its findings that block: where no gate is asked, they are kept for the next subject by this. */
      readonly blocking?: readonly string[];
    })
  | (Verified & { readonly outcome: 'unavailable'; readonly reason: UnavailableReason })
  /** PLAN.md, the diff or the review cannot be read: never an approval (seeds/000). */
  | (Verified & { readonly outcome: 'missing_artifact'; readonly path: string });

export const VERIFICATION_SIGNALS = {
  /** From the ticket, once SENTINEL's `approve` or `reject` was accepted; its argument is a {@link TicketAnswer}. */
  answered: 'reviewAnswered',
} as const;
export type { TicketAnswer };

/** Activities of the control worker that make a subject. Implemented with the verification. */
export interface SubjectActivities {
  /** Builds the manifest from our own repository and the trusted documents and stores it once under its digest. */
  recordSubject(parameters: SubjectParameters): Promise<{ readonly subjectDigest: Digest<'subject'> }>;
}
