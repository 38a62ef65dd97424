/** The phases of a ticket and what it can wait for: closed sets (spec/tickets.md). */

/** Phases in which somebody or something works. */
export const WORK_PHASES = [
  /** FORGE writes PLAN.md. */
  'planning',
  /** SENTINEL reviews the plan, then the plan gate decides. */
  'plan_review',
  /** FORGE builds one segment after the other. */
  'building',
  'segment_review',
  /** The merge candidate is made and its checks are run. */
  'testing',
  /** Final review and merge gate of that candidate. */
  'review_ready',
  /** Exactly the judged candidate is landed. */
  'merging',
  /** LORE's change, after the merge. */
  'documenting',
] as const;
export type WorkPhase = (typeof WORK_PHASES)[number];

/** Phases that only an operator's decision leaves. */
export const STOPPED_PHASES = ['blocked', 'awaiting_human'] as const;
export type StoppedPhase = (typeof STOPPED_PHASES)[number];

/** Phases that nothing leaves (invariant 9). */
export const TERMINAL_PHASES = ['done', 'abandoned'] as const;
export type TerminalPhase = (typeof TERMINAL_PHASES)[number];

export const TICKET_PHASES = [...WORK_PHASES, ...STOPPED_PHASES, ...TERMINAL_PHASES] as const;
export type TicketPhase = (typeof TICKET_PHASES)[number];

export const REVIEW_PHASES = ['plan_review', 'segment_review', 'review_ready'] as const satisfies readonly WorkPhase[];
export type ReviewPhase = (typeof REVIEW_PHASES)[number];

/** Which gate stands behind each review. */
export const GATE_OF_REVIEW = {
  plan_review: 'plan',
  segment_review: 'segment',
  review_ready: 'merge',
} as const satisfies Record<ReviewPhase, string>;
export type TicketGate = (typeof GATE_OF_REVIEW)[ReviewPhase];

/** The inverse of {@link GATE_OF_REVIEW}. */
export const REVIEW_OF_GATE = {
  plan: 'plan_review',
  segment: 'segment_review',
  merge: 'review_ready',
} as const satisfies Record<TicketGate, ReviewPhase>;

/** What a ticket waits for, as a short stable word; `nothing` exactly when it has ended. */
export const WAITS = [
  /** A slot for, and then the readiness of, a workspace. */
  'workspace',
  'plan',
  'segment',
  'ready',
  'verification',
  'gate',
  'candidate',
  'test',
  'ci',
  'merge',
  'documentation',
  'operator',
  'nothing',
] as const;
export type TicketWait = (typeof WAITS)[number];

export function isWorkPhase(phase: TicketPhase): phase is WorkPhase {
  return (WORK_PHASES as readonly TicketPhase[]).includes(phase);
}

export function isTerminal(phase: TicketPhase): phase is TerminalPhase {
  return (TERMINAL_PHASES as readonly TicketPhase[]).includes(phase);
}

export function isStopped(phase: TicketPhase): phase is StoppedPhase {
  return (STOPPED_PHASES as readonly TicketPhase[]).includes(phase);
}

export function isReview(phase: TicketPhase): phase is ReviewPhase {
  return (REVIEW_PHASES as readonly TicketPhase[]).includes(phase);
}
