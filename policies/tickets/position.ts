/** Where a ticket stands, derived from its state: what it waits for, which round it is in, what has to be done next. */
import type { LandingIntent } from '../../schemas/ticket/landing.ts';
import { isTerminal, type TicketGate, type TicketWait, type WorkPhase } from '../../schemas/ticket/phase.ts';
import type { TicketState, TicketWorkspace } from '../../schemas/ticket/state.ts';

/** What the workflow has to do next. Derived, so that it is the same after a crash or a continue-as-new. */
export type TicketStep =
  | { readonly do: 'produce'; readonly role: 'forge'; readonly what: 'plan' | 'segment' | 'ready' }
  | { readonly do: 'verify'; readonly gate: TicketGate }
  | { readonly do: 'decide'; readonly gate: TicketGate }
  | { readonly do: 'makeCandidate' | 'test' | 'intend' | 'land' | 'document' | 'awaitOperator' | 'end' };

export function stepOf(state: TicketState): TicketStep {
  const { phase, segment, review } = state;
  switch (phase) {
    case 'planning':
      return { do: 'produce', role: 'forge', what: 'plan' };
    case 'building': {
      const built = segment !== null && segment.passed === segment.of;
      return { do: 'produce', role: 'forge', what: built ? 'ready' : 'segment' };
    }
    case 'plan_review':
      return reviewStep('plan', review?.route ?? null);
    case 'segment_review':
      return reviewStep('segment', review?.route ?? null);
    case 'review_ready':
      return reviewStep('merge', review?.route ?? null);
    case 'testing':
      return { do: state.candidate === null ? 'makeCandidate' : 'test' };
    case 'merging':
      return { do: landingUnderWay(state) === null ? 'intend' : 'land' };
    case 'documenting':
      return { do: landingUnderWay(state) === null ? 'document' : 'land' };
    case 'blocked':
    case 'awaiting_human':
      return { do: 'awaitOperator' };
    case 'done':
    case 'abandoned':
      return { do: 'end' };
  }
}

function reviewStep(gate: TicketGate, route: string | null): TicketStep {
  return { do: route === null ? 'verify' : 'decide', gate };
}

export function waitOf(state: TicketState): TicketWait {
  const step = stepOf(state);
  switch (step.do) {
    case 'produce':
      return liveWorkspace(state, step.role)?.status === 'ready' ? step.what : 'workspace';
    case 'verify':
      return 'verification';
    case 'decide':
      return 'gate';
    case 'makeCandidate':
      return 'candidate';
    case 'test':
      return 'test';
    case 'intend':
    case 'land':
      return state.pr !== null && state.pr.ci !== 'pass' ? 'ci' : 'merge';
    case 'document':
      return 'documentation';
    case 'awaitOperator':
      return 'operator';
    case 'end':
      return 'nothing';
  }
}

/** What may be on its branch already: its landing has begun, and nobody has heard how it ended. */
export function landingUnderWay({ merge, documentation }: TicketState): LandingIntent | null {
  return merge?.state === 'intended' ? merge : (documentation?.landing ?? null);
}

/** The one workspace of the role that is not being released. */
export function liveWorkspace(state: TicketState, role: 'forge' | 'lore'): TicketWorkspace | null {
  return state.workspaces.find((workspace) => workspace.role === role && workspace.status !== 'releasing') ?? null;
}

/** The round of what is worked on, from 1. */
export function roundOf(state: TicketState): number {
  const { phase, resumePhase, attempts } = state;
  const stage = stageOf(isTerminal(phase) || phase === 'blocked' || phase === 'awaiting_human' ? resumePhase : phase);
  return stage === null ? 1 : attempts.rounds[stage] + 1;
}

function stageOf(phase: WorkPhase | null): TicketGate | null {
  switch (phase) {
    case 'planning':
    case 'plan_review':
      return 'plan';
    case 'building':
    case 'segment_review':
      return 'segment';
    case 'testing':
    case 'review_ready':
    case 'merging':
      return 'merge';
    case 'documenting':
    case null:
      return null;
  }
}
