/**
 * What the gateway, a client and the `ticket` workflow agree on (id `ticketWorkflowId`): input, updates, signals. Authority is
 * checked before an update is sent: Temporal does not know who calls.
 */
import type { HumanAnswerGiven } from '../gate/human.ts';
import type { RemoteName } from '../git/activities.ts';
import type { IncidentRuled as LandingRuled } from './activities.ts';
import type { TicketDefinition } from './definition.ts';
import type { OperatorDecision } from './event.ts';
import type { TicketState, TicketUpdateOutcome } from './state.ts';

export const TICKET_WORKFLOW = 'ticket';
export const CLOSE_INCIDENT_WORKFLOW = 'closeIncident';

/** The commits the ticket starts from; an upload is taken in by its import id. */
export interface TicketSource {
  /** Name of the bundle in the incoming directory; `null`: the commits are in our repository already. */
  readonly importId: string | null;
  /** Head of the base branch when the ticket was started; `null`: the newest that the remote has. */
  readonly baseSha: string | null;
  /** Where the base comes from and the change lands; `null`: only in our own repository of the pair. */
  readonly remote: RemoteName;
}

/** What a ticket hands to itself when it continues as new. */
export interface CarriedTicket {
  readonly state: TicketState;
  /** Events recorded so far. */
  readonly seq: number;
}

/** Argument of `ticket`. `carried` is there exactly after continue-as-new. */
export interface TicketInput {
  readonly tenant: string;
  readonly definition: TicketDefinition;
  readonly source: TicketSource;
  /** Credential id of whoever started it. */
  readonly by: string;
  readonly carried: CarriedTicket | null;
  /** Events of one run after which it continues as new; `null`: when the server suggests it. */
  readonly historyLimit: number | null;
}

/** Names of the updates; each takes the one argument and answers a {@link TicketUpdateOutcome}. */
export const TICKET_UPDATES = {
  submitPlan: 'submitPlan',
  submitSegment: 'submitSegment',
  submitReady: 'submitReady',
  approve: 'approve',
  reject: 'reject',
  decide: 'decide',
  decideGate: 'decideGate',
  resume: 'resume',
  abandon: 'abandon',
} as const;
export type TicketUpdateName = keyof typeof TICKET_UPDATES;

/** Every update names the revision it was decided on: `updateId` is a digest of the request with it (DESIGN section 5). */
interface TicketRequest {
  readonly revision: number;
  /** Credential id of the caller, checked by the gateway. */
  readonly by: string;
}

/** From FORGE: PLAN.md is at this pushed commit. */
export interface SubmitPlan extends TicketRequest {
  readonly commit: string;
}

/** From FORGE: segment `n` is at this pushed commit. */
export interface SubmitSegment extends TicketRequest {
  readonly n: number;
  readonly commit: string;
}

/** From FORGE: every segment has passed and nothing is left to build. From LORE, while documenting: its change is there. */
export interface SubmitReady extends TicketRequest {
  readonly commit: string;
}

/** From SENTINEL, once its approval token is consumed: `approve` and `reject` differ by the name of the update. */
export interface AnswerReview extends TicketRequest {
  /** Number of the evaluation, as the token's binding has it. */
  readonly n: number;
  readonly approvalId: string;
  /** Digest of the review that was appended. */
  readonly reviewDigest: string;
}

/** From an operator. `decide` takes any decision; `resume` and `abandon` are the same with theirs. */
export interface DecideTicket extends TicketRequest {
  readonly decision: OperatorDecision;
  readonly reason: string;
}

/**
 * From a person: what they say of what the gate judges. It becomes evidence and moves nothing; the next evaluation reads it.
 * `by` has to be an operator's active credential, whoever sends the update.
 */
export interface DecideGate extends TicketRequest, HumanAnswerGiven {}

export interface ReasonedRequest extends TicketRequest {
  readonly reason: string;
}

export interface TicketUpdateArguments {
  readonly submitPlan: SubmitPlan;
  readonly submitSegment: SubmitSegment;
  readonly submitReady: SubmitReady;
  readonly approve: AnswerReview;
  readonly reject: AnswerReview;
  readonly decide: DecideTicket;
  readonly decideGate: DecideGate;
  readonly resume: ReasonedRequest;
  readonly abandon: ReasonedRequest;
}

export type { TicketUpdateOutcome };

export const TICKET_SIGNALS = {
  /** The kill switch was turned on; its argument is {@link KillSwitchNotice}. */
  killSwitch: 'ticketKillSwitch',
} as const;

export interface KillSwitchNotice {
  readonly reason: string;
  readonly by: string;
}

/** Answers the {@link TicketState} for debugging; readers use the projection `ticket:{id}:status`. */
export const TICKET_STATE_QUERY = 'ticketState';

/** What `ticket` returns, for the operator's eye only. */
export interface TicketOutcome {
  readonly ticket: string;
  readonly phase: 'done' | 'abandoned';
  /** The commit that landed; `null` when nothing did. */
  readonly merged: string | null;
}

/** Argument of `closeIncident` (id `closeIncidentWorkflowId`): of a landing whose ticket has ended. */
export type CloseIncidentInput = Pick<LandingRuled, 'tenant' | 'incident' | 'ruling'>;
