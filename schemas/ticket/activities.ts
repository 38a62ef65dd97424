/** The activities of the ticket workflow, and the port of the store that they need. Implemented in `activities/ticket/`. */
import type { Digest } from '../digest.ts';
import type { Assignment } from '../harness-api.ts';
import type { PairHead } from '../pair.ts';
import type { LifecycleDraft } from '../workspace/lifecycle.ts';
import type { TicketDefinition } from './definition.ts';
import type { TicketEvent } from './event.ts';
import type { TicketState } from './state.ts';

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

export interface TicketActivities extends DocumentationActivities {
  /** Projection, event and pair head in one step of the store; repeatable. @throws `store_unavailable` */
  recordTransition(transition: RecordedTransition): Promise<void>;
  /** Says what the workspace of a role is asked, before its agent's turn; one record for each role. Repeatable. */
  writeAssignment(of: { readonly tenant: string; readonly assignment: Assignment }): Promise<void>;
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
}
