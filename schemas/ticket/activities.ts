/** The activities of the ticket workflow, and the port of the store that they need. Implemented in `activities/ticket/`. */
import type { Digest } from '../digest.ts';
import type { HumanAnswerGiven } from '../gate/human.ts';
import type { Assignment } from '../harness-api.ts';
import type { PairHead } from '../pair.ts';
import type { LifecycleDraft } from '../workspace/lifecycle.ts';
import type { TicketDefinition } from './definition.ts';
import type { TicketEvent } from './event.ts';
import type { TicketRefusal, TicketState } from './state.ts';

/** One accepted event and the state it made. */
export interface RecordedTransition {
  readonly state: TicketState;
  readonly event: TicketEvent;
  /** Counts everything recorded of the ticket: a repeated call with the same number writes nothing twice. */
  readonly seq: number;
  readonly title: string;
}

/** Projection `ticket:{id}:status`. */
export interface TicketRecord {
  readonly schema: 'portcullis/ticket-record/v1';
  /** Highest `seq` folded in: an older one never overwrites it. */
  readonly seq: number;
  readonly title: string;
  readonly state: TicketState;
}

/** What PLAN.md at a commit says that the reducer needs. */
export interface PlanReading {
  /** Digest of the bytes of PLAN.md. */
  readonly digest: string;
  readonly segments: number;
}

export interface PlanRequest {
  readonly tenant: string;
  readonly ticket: string;
  readonly commit: string;
}

/** Answer of `readPlan`: a missing or empty plan is an answer, not a failure. */
export type PlanAnswer =
  | ({ readonly found: true } & PlanReading)
  | { readonly found: false; /** The path and what is wrong with it. */ readonly reason: string };

/** What the small gate of a documentation judges: a change of documents on top of what has landed. */
export interface DocumentationSubject {
  readonly tenant: string;
  readonly ticket: string;
  readonly execution: { readonly id: string; readonly generation: number };
  readonly stateRevision: number;
  readonly n: number;
  readonly plan: { readonly revision: number; readonly digest: string; readonly commit: string };
  /** The candidate of the documentation, and the base it was made on. */
  readonly change: { readonly base: string; readonly head: string };
  readonly producer: { readonly run: string };
  readonly definition: TicketDefinition;
}

/** The paths that a documentation may change; a directory ends in `/`. */
export const DOCUMENTATION_PATHS = ['docs/', 'CHANGELOG.md', 'README.md'] as const;

export interface DocumentationActivities {
  /**
   * Records the subject of the gate kind `operation` and what the control plane observes of it: whether the change stays within
   * {@link DOCUMENTATION_PATHS}. Repeatable.
   */
  recordDocumentation(subject: DocumentationSubject): Promise<{ readonly subjectDigest: Digest<'subject'> }>;
}

/** A person's decision, as the ticket's workflow hands it on. */
export interface PersonAsked extends HumanAnswerGiven {
  readonly tenant: string;
  readonly ticket: string;
  /** Credential id of the person: who they are and what they may is read from its record. */
  readonly by: string;
}

export type PersonRecorded =
  | { readonly kind: 'recorded'; readonly decisionId: string }
  | { readonly kind: 'refused'; readonly refusal: TicketRefusal };

/** The kill switch as a ticket sees it; `null` while none is on. */
export interface TicketAdmission {
  readonly stopped: { readonly reason: string; readonly by: string } | null;
  /** What is wrong with the ticket's checks, in words that follow its name; `null` when the gates know each. */
  readonly unknownCheck: { readonly check: string; readonly reason: string } | null;
}

/** Something landed under an authority that changed meanwhile, or was given up before anybody knew whether it landed. */
export interface LandingIncident {
  readonly tenant: string;
  readonly ticket: string;
  /** Workflow id of the ticket. */
  readonly run: string;
  readonly candidate: string;
  readonly cause: 'authority' | 'unanswered';
  /** Milliseconds since the epoch, the workflow's. */
  readonly at: number;
}

export interface IncidentRuled {
  readonly tenant: string;
  readonly incident: string;
  readonly ruling: { readonly ruling: string; readonly by: string; readonly reason: string };
  readonly at: number;
}

export interface TicketActivities extends DocumentationActivities {
  /**
   * The ticket is listed as open, and then the switch is read: whoever turns it on meanwhile either is seen here or finds the
   * ticket in the list. Repeatable. @throws `store_unavailable`
   */
  admitTicket(of: {
    readonly tenant: string;
    readonly ticket: string;
    readonly checks: TicketDefinition['checks'];
  }): Promise<TicketAdmission>;
  /** Makes a person's decision a record of the subject's evidence, once. @throws `store_unavailable` */
  recordPerson(of: PersonAsked): Promise<PersonRecorded>;
  /** Opens the incident and answers its id. Repeatable. */
  openLandingIncident(of: LandingIncident): Promise<string>;
  /** Closes it with the operator's ruling. Repeatable. */
  closeLandingIncident(of: IncidentRuled): Promise<void>;
  /** Projection, event and pair head in one step of the store; repeatable. @throws `store_unavailable` */
  recordTransition(transition: RecordedTransition): Promise<void>;
  /** Says what the workspace of a role is asked, before its agent's turn; one record for each role. Repeatable. */
  writeAssignment(of: {
    readonly tenant: string;
    readonly assignment: Assignment;
    /** Ids of the findings that stand in the way: the assignment is written with what each says. */
    readonly blockers?: readonly string[];
  }): Promise<void>;
  /** Reads PLAN.md as a blob from our own repository. @throws `not_found` when the commit is not there. */
  readPlan(request: PlanRequest): Promise<PlanAnswer>;
}

/** What the store has to do for a ticket, in one script: set the projection unless newer, move the head, append once. */
export interface TicketStore {
  writeTicket(
    tenant: string,
    write: { readonly record: TicketRecord; readonly head: PairHead; readonly event: LifecycleDraft },
  ): Promise<void>;
  readTicket(tenant: string, ticket: string): Promise<TicketRecord | null>;
  /** Lists the ticket as open before anything is recorded of it; its last record takes it off the list. */
  markOpen(tenant: string, ticket: string): Promise<void>;
  /** For one whose workflow ended without a last record. */
  forgetOpen(tenant: string, ticket: string): Promise<void>;
  /** Ids of the tickets that have not ended, sorted. */
  listOpen(tenant: string): Promise<readonly string[]>;
}
