/** Tickets in every phase, each brought there by events, and events that fit the state they are made for. */
import { apply } from '../../policies/tickets/apply.ts';
import { landingUnderWay } from '../../policies/tickets/position.ts';
import { newTicket } from '../../policies/tickets/ticket.ts';
import {
  GATE_DECISIONS,
  HUMAN_ANSWERS,
  type GateDecisionWord,
  type HumanAnswer,
} from '../../schemas/gate/vocabulary.ts';
import type {
  CandidateTestStatus,
  EventOf,
  OperatorDecision,
  TicketEvent,
  TicketEventType,
} from '../../schemas/ticket/event.ts';
import { CI_STATES } from '../../schemas/ticket/landing.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { GATE_OF_REVIEW, isReview, isWorkPhase, type TicketPhase } from '../../schemas/ticket/phase.ts';

export const commit = (n: number): string => n.toString(16).padStart(40, '0');
export const BASE = commit(0xba5e);
export const treeOf = (n: number): string => `7${commit(n).slice(1)}`;

export function ticket(): TicketState {
  return newTicket({
    tenant: 'test',
    definition: { id: 'T-048', issueUrl: null, baseBranch: 'main' },
    base: BASE,
    at: 1_000,
  });
}

export type Apply = typeof apply;

/** The state after the events. @throws when one of them is refused: the fixture would not be what its name says. */
export function after(state: TicketState, ...events: readonly ((state: TicketState) => TicketEvent)[]): TicketState {
  return events.reduce((current, make) => {
    const event = make(current);
    const applied = apply(current, event);
    if (!applied.ok) throw new Error(`${event.type} in ${current.phase}: ${JSON.stringify(applied.refusal)}`);
    return applied.state;
  }, state);
}

/** Milliseconds by which every event is later than what it happens to. */
const LATER = 1_000;

const decided = (state: TicketState) => ({
  revision: state.revision,
  at: state.since + LATER,
  actor: 'test',
});
const observed = (state: TicketState) => ({ at: state.since + LATER, actor: 'test' });

export const planSubmitted =
  (n = 1, segments = 2) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'planSubmitted',
    plan: { commit: commit(n), digest: `sha256:${commit(n)}${'0'.repeat(24)}`, segments },
  });
export const segmentSubmitted =
  /** @param tree what it contains, of a number as `head`; every commit another one when nothing is said */
  (head: number, tree = head, base: string | null = null) =>
    (state: TicketState): TicketEvent => ({
      ...decided(state),
      type: 'segmentSubmitted',
      n: state.segment?.n ?? 1,
      head: commit(head),
      tree: treeOf(tree),
      base,
    });
export const readySubmitted = (state: TicketState): TicketEvent => ({
  ...decided(state),
  type: 'readySubmitted',
  head: state.head,
});
export const reviewed =
  (route: EventOf<'reviewed'>['route'] = 'proceed', unreadable = false) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'reviewed',
    n: state.review?.n ?? 1,
    subjectDigest: `sha256:${'5'.repeat(64)}`,
    route,
    failureClass: null,
    refs: [],
    unreadable,
  });
export const gateDecided =
  (decision: GateDecisionWord = 'pass', overruled = false) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'gateDecided',
    n: state.review?.n ?? 1,
    gate: isReview(state.phase) ? GATE_OF_REVIEW[state.phase] : 'plan',
    decision,
    evaluationKey: `sha256:${String(state.revision).padStart(64, '0')}`,
    subjectDigest: state.review?.subjectDigest ?? 'none',
    reasons: decision === 'pass' ? [] : ['open_blocker:finding_open:f-1'],
    blockers: decision === 'rework' ? ['f-1'] : [],
    overruled,
  });
export const candidateMade =
  (n = 0xca0) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'candidateMade',
    candidate: { commit: commit(n), base: BASE, head: state.head },
  });
export const candidateTested =
  (status: CandidateTestStatus = 'satisfied') =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'candidateTested',
    candidate: state.candidate?.commit ?? commit(1),
    status,
    detail: 'npm-test',
    refs: ['task-1'],
  });
export const mergeIntended = (state: TicketState): TicketEvent => ({
  ...decided(state),
  type: 'mergeIntended',
  candidate: state.candidate?.commit ?? commit(1),
  base: state.candidate?.base ?? BASE,
  epoch: 3,
  evaluationKey: state.passes.findLast((pass) => pass.gate === 'merge')?.evaluationKey ?? 'none',
});
/** With an id: authority changed under the landing. */
export const landedWith =
  (incident: string | null) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'landed',
    candidate: state.merge?.candidate ?? commit(1),
    incident,
  });
export const landed = landedWith(null);
export const landingUnanswered = (state: TicketState): TicketEvent => ({
  ...decided(state),
  type: 'landingUnanswered',
  reason: 'remote_unavailable',
});
export const documentationSubmitted =
  (n: number) =>
  (state: TicketState): TicketEvent => ({ ...decided(state), type: 'documentationSubmitted', head: commit(n) });
export const documentationIntended =
  (n: number) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'documentationIntended',
    candidate: commit(n),
    base: state.merge?.candidate ?? BASE,
    evaluationKey: `sha256:${'d'.repeat(64)}`,
    epoch: 3,
  });
export const documentationFailed = (state: TicketState): TicketEvent => ({
  ...decided(state),
  type: 'documentationFailed',
  reason: 'remote: no',
});
export const documentationLanded =
  (n: number, incident: string | null = null) =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'documentationLanded',
    commit: commit(n),
    incident,
  });
/** By somebody who looked at what the ticket stands at. */
export const personDecided =
  (decision: HumanAnswer = 'approve', decisionId = 'h-1') =>
  (state: TicketState): TicketEvent => ({
    ...decided(state),
    type: 'personDecided',
    gate: state.review?.gate ?? 'plan',
    subjectDigest: state.review?.subjectDigest ?? 'none',
    decision,
    decisionId,
  });
export const operatorDecided =
  (decision: OperatorDecision) =>
  (state: TicketState): TicketEvent => ({ ...decided(state), type: 'operatorDecided', decision, reason: 'test' });
export const killSwitchTurned = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'killSwitchTurned',
  reason: 'drill',
});
export const recoveryFailed = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'recoveryFailed',
  reason: 'drill',
});
export const cancelled = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'cancelled',
  reason: 'drill',
});
export const workspaceStarted =
  (role: 'forge' | 'lore' = 'forge') =>
  (state: TicketState): TicketEvent => ({
    ...observed(state),
    type: 'workspaceStarted',
    role,
    run: `workspace/test/T-048/${role}/${state.workspaceGenerations[role] + 1}`,
  });
const newestRun = (state: TicketState): string => state.workspaces.at(-1)?.run ?? 'workspace/test/T-048/forge/1';
export const workspaceReady = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'workspaceReady',
  run: newestRun(state),
  coderWorkspaceId: 'c-1',
});
export const workspaceReleased = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'workspaceReleased',
  run: newestRun(state),
});
export const workspaceEnded =
  (became: 'ended' | 'never_ready' = 'ended') =>
  (state: TicketState): TicketEvent => ({
    ...observed(state),
    type: 'workspaceEnded',
    run: newestRun(state),
    trigger: 'timeout',
    became,
    fate: 'gone',
    reason: 'test',
  });
export const agentFailed = (state: TicketState): TicketEvent => ({
  ...observed(state),
  type: 'agentFailed',
  run: newestRun(state),
  outcome: 'silent',
});

/** A FORGE workspace that is ready. */
export const withForge = [workspaceStarted('forge'), workspaceReady] as const;
const passed = [reviewed('proceed'), gateDecided('pass')] as const;

const planning = after(ticket(), ...withForge);
const planReview = after(planning, planSubmitted());
const building = after(planReview, ...passed);
const segmentReview = after(building, segmentSubmitted(0x51));
const secondSegment = after(segmentReview, ...passed);
const built = after(secondSegment, segmentSubmitted(0x52), ...passed);
const testing = after(built, readySubmitted);
const withCandidate = after(testing, candidateMade());
const reviewReady = after(withCandidate, candidateTested());
const merging = after(reviewReady, ...passed);
const intended = after(merging, mergeIntended);
const documenting = after(
  intended,
  landed,
  workspaceReleased,
  workspaceEnded(),
  workspaceStarted('lore'),
  workspaceReady,
);

const documented = after(documenting, documentationSubmitted(0xd0));

/** One ticket in each place, by name. */
export const TICKETS = {
  planning,
  planReview,
  planVerified: after(planReview, reviewed()),
  planRejected: after(planReview, reviewed('retry_producer')),
  building,
  secondSegment,
  built,
  segmentReview,
  segmentVerified: after(segmentReview, reviewed()),
  testing,
  withCandidate,
  reviewReady,
  candidateVerified: after(reviewReady, reviewed()),
  merging,
  withPullRequest: after(merging, (state) => ({
    ...decided(state),
    type: 'pullRequestOpened',
    number: 7,
    url: 'https://forge.example/pull/7',
  })),
  intended,
  documenting,
  documented,
  documentationIntended: after(documented, documentationIntended(0xd0c)),
  planHeld: after(planReview, reviewed(), gateDecided('human_required')),
  planBlocked: after(planReview, reviewed(), gateDecided('blocked')),
  done: after(documenting, (state) => ({ ...decided(state), type: 'nothingToDocument' })),
  abandoned: after(planning, operatorDecided('abandon')),
} satisfies Record<string, TicketState>;

const AT_WORK: readonly TicketState[] = Object.values(TICKETS).filter(
  (state) => isWorkPhase(state.phase) && landingUnderWay(state) === null,
);

/** The same ticket one step before every bound. */
function nearBounds(state: TicketState): TicketState {
  const rounds = { plan: 2, segment: 2, merge: 2 };
  const { evaluations } = state.attempts;
  return {
    ...state,
    attempts: {
      rework: 9,
      rounds,
      providerFailures: 4,
      tests: 2,
      candidates: 2,
      ci: 2,
      docs: 2,
      evaluations,
    },
  };
}

/** Enough tickets to reach every edge of the table: each at its beginning, near its bounds, and stopped. */
export const SAMPLES: readonly TicketState[] = [
  ...Object.values(TICKETS),
  ...AT_WORK.map(nearBounds),
  nearBounds(TICKETS.intended),
  after(TICKETS.intended, landingUnanswered),
  after(TICKETS.documentationIntended, landingUnanswered),
  ...AT_WORK.map((state) => after(state, killSwitchTurned)),
  ...AT_WORK.map((state) => after(state, recoveryFailed)),
];

export const samplesIn = (phase: TicketPhase): readonly TicketState[] =>
  SAMPLES.filter((state) => state.phase === phase);

/** Makes an event of one type and kind that fits the state as well as it can; `fresh` is what it newly names. */
export interface EventMaker {
  readonly type: TicketEventType;
  /** Which of several kinds of the type: a decision, a route, a status. */
  readonly kind: string;
  readonly make: (state: TicketState, fresh: number) => TicketEvent;
}

const maker = (
  type: TicketEventType,
  make: (state: TicketState, fresh: number) => TicketEvent,
  kind = '',
): EventMaker => ({ type, kind, make });

export const EVENT_MAKERS: readonly EventMaker[] = [
  maker('planSubmitted', (state, fresh) => planSubmitted(fresh, 1 + (fresh % 3))(state)),
  // Often what was there before, in another commit.
  maker('segmentSubmitted', (state, fresh) => segmentSubmitted(fresh, fresh % 16)(state)),
  maker('readySubmitted', readySubmitted),
  ...(['proceed', 'retry_producer', 'human', 'stop'] as const).map((route) =>
    maker('reviewed', reviewed(route), route),
  ),
  maker('reviewed', reviewed('human', true), 'unreadable'),
  ...GATE_DECISIONS.map((decision) => maker('gateDecided', gateDecided(decision), decision)),
  maker('candidateMade', (state, fresh) => candidateMade(fresh)(state)),
  ...(['satisfied', 'failed', 'unanswered', 'not_tested'] as const).map((status) =>
    maker('candidateTested', candidateTested(status), status),
  ),
  maker('mergeIntended', mergeIntended),
  maker('landed', landed),
  maker('landed', landedWith('landing-1'), 'incident'),
  ...(['retry', 'resume', 'abandon'] as const).map((decision) =>
    maker('operatorDecided', operatorDecided(decision), decision),
  ),
  maker('killSwitchTurned', killSwitchTurned),
  maker('recoveryFailed', recoveryFailed),
  maker('cancelled', cancelled),
  maker('workspaceStarted', workspaceStarted('forge'), 'forge'),
  maker('workspaceStarted', workspaceStarted('lore'), 'lore'),
  maker('workspaceReady', workspaceReady),
  maker('workspaceReleased', workspaceReleased),
  maker('workspaceEnded', workspaceEnded('ended'), 'ended'),
  maker('workspaceEnded', workspaceEnded('never_ready'), 'never_ready'),
  maker('agentFailed', agentFailed),
  maker('agentAsked', (state) => ({ ...observed(state), type: 'agentAsked', run: newestRun(state) })),
  ...(['approve', 'reject'] as const).map((answer) =>
    maker(
      'reviewAnswered',
      (state) => ({ ...decided(state), ...answering(state), type: 'reviewAnswered', answer }),
      answer,
    ),
  ),
  maker('verificationUnavailable', (state) => ({
    ...decided(state),
    type: 'verificationUnavailable',
    n: state.review?.n ?? 1,
    reason: 'timeout',
  })),
  maker('artifactMissing', (state) => ({ ...decided(state), type: 'artifactMissing', path: 'PLAN.md' })),
  maker('candidateConflicted', (state) => ({
    ...decided(state),
    type: 'candidateConflicted',
    base: BASE,
    paths: ['src/index.js'],
  })),
  maker('pullRequestOpened', (state) => ({
    ...decided(state),
    type: 'pullRequestOpened',
    number: 7,
    url: 'https://forge.example/pull/7',
  })),
  ...CI_STATES.map((ci) => maker('ciReported', (state) => ({ ...decided(state), type: 'ciReported', state: ci }), ci)),
  maker('baseMoved', (state, fresh) => ({ ...decided(state), type: 'baseMoved', base: commit(fresh) })),
  maker('landingRefused', (state) => ({ ...decided(state), type: 'landingRefused', reason: 'contradicted' })),
  maker('landingUnanswered', landingUnanswered),
  maker('documentationSubmitted', (state, fresh) => documentationSubmitted(fresh)(state)),
  maker('documentationIntended', (state, fresh) => documentationIntended(fresh)(state)),
  maker('documentationLanded', (state, fresh) => documentationLanded(fresh)(state)),
  maker('documentationLanded', (state, fresh) => documentationLanded(fresh, 'landing-2')(state), 'incident'),
  ...HUMAN_ANSWERS.map((answer) =>
    maker('personDecided', (state, fresh) => personDecided(answer, `h-${fresh}`)(state), answer),
  ),
  maker('gateDecided', (state) => gateDecided('pass', true)(state), 'overruled'),
  maker('nothingToDocument', (state) => ({ ...decided(state), type: 'nothingToDocument' })),
  maker('documentationFailed', documentationFailed),
  maker('waitExceeded', (state) => ({ ...decided(state), type: 'waitExceeded', waitingOn: state.waitingOn })),
];

const answering = (state: TicketState) => ({
  n: state.review?.n ?? 1,
  approvalId: 'a-1',
  reviewDigest: `sha256:${'7'.repeat(64)}`,
});
