/** What must hold of any reducer of a ticket, as a search for a counterexample over random sequences of events. */
import fc from 'fast-check';
import { TICKET_BOUNDS } from '../../policies/tickets/bounds.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import { isStopped, isTerminal } from '../../schemas/ticket/phase.ts';
import { REFUSAL_CODES, STATE_LIMITS, type TicketState } from '../../schemas/ticket/state.ts';
import { EVENT_MAKERS, ticket, type Apply, type EventMaker } from './ticket-fixtures.ts';

export interface Step {
  readonly before: TicketState;
  readonly event: TicketEvent;
  readonly answer: ReturnType<Apply>;
}

/** What is wrong with the sequence; `null` when nothing is. */
type Property = (steps: readonly Step[]) => string | null;

export const TICKET_PROPERTIES = {
  'terminal is absorbing': (steps) =>
    first(steps, ({ before, answer }) => isTerminal(before.phase) && answer.ok && `${before.phase} was left`),
  'a refusal has a code and a stale decision is refused': (steps) =>
    first(steps, ({ before, event, answer }) => {
      if (!answer.ok) return !REFUSAL_CODES.includes(answer.refusal.code) && `${answer.refusal.code} is no refusal`;
      return 'revision' in event && event.revision !== before.revision && `a stale ${event.type} was taken`;
    }),
  'the revision grows by one for each transition, and only then': (steps) =>
    first(taken(steps), ({ before, after }) => {
      const grown = after.revision - before.revision;
      if (grown !== 0 && grown !== 1) return `it grew by ${grown}`;
      return grown === 0 && position(before) !== position(after) && 'the ticket moved without a revision';
    }),
  'nothing is landed without a pass of exactly that candidate in this execution': landedJudged,
  'nothing of one execution authorises the next': (steps) =>
    first(taken(steps), ({ before, after }) => {
      const { generation } = after.execution;
      if (after.passes.some((pass) => pass.generation !== generation)) return 'a pass of another execution is kept';
      if (generation === before.execution.generation) return false;
      if (generation !== before.execution.generation + 1) return 'the generation skips';
      if (after.passes.length > 0) return 'a new execution begins with a pass';
      if (after.review?.route != null) return 'a new execution begins with a verdict';
      return after.candidate !== null && 'a new execution begins with a candidate';
    }),
  'what rested on a changed plan or head is gone': (steps) =>
    first(taken(steps), ({ before, after }) => {
      const kept = after.passes.filter((pass) => before.passes.includes(pass));
      if (after.plan?.revision !== before.plan?.revision && kept.length > 0) return 'a pass outlives its plan';
      const onHead = kept.filter((pass) => pass.gate !== 'plan');
      if (after.head !== before.head && onHead.length > 0) return 'a pass outlives its head';
      const onCandidate = kept.filter((pass) => pass.gate === 'merge');
      return (
        after.candidate?.commit !== before.candidate?.commit &&
        onCandidate.length > 0 &&
        'a pass outlives its candidate'
      );
    }),
  'every bound holds, and a person comes after it': boundsHold,
  'an unchanged candidate is never judged again after it was sent back': unchangedRefused,
  'what it waits for is always said': (steps) =>
    first(taken(steps), ({ after }) => {
      const ended = isTerminal(after.phase);
      if ((after.waitingOn === 'nothing') !== ended) return `${after.phase} waits on ${after.waitingOn}`;
      return (
        (after.resumePhase !== null) !== isStopped(after.phase) &&
        `${after.phase} with resume phase ${after.resumePhase ?? 'none'}`
      );
    }),
  'every list is bounded': (steps) =>
    first(taken(steps), ({ after }) => {
      const { history, lineage, passes, decisions, workspaces, blockers } = after;
      if (history.length > STATE_LIMITS.history || lineage.length > STATE_LIMITS.lineage) return 'history or lineage';
      if (workspaces.length > STATE_LIMITS.workspaces) return 'workspaces';
      return [passes, decisions, blockers].some((list) => list.length > STATE_LIMITS.ids) && 'ids';
    }),
} as const satisfies Record<string, Property>;

export type TicketProperty = keyof typeof TICKET_PROPERTIES;

export interface Search {
  readonly sequences: number;
  readonly events: number;
  readonly accepted: number;
  /** Names of the properties that broke, each with its smallest counterexample found. */
  readonly broken: Readonly<Partial<Record<TicketProperty, string>>>;
}

/** Plays `sequences` random sequences to the reducer. */
export function searchTickets(apply: Apply, sequences: number, seed: number): Search {
  let events = 0;
  let accepted = 0;
  const broken: Partial<Record<TicketProperty, string>> = {};
  const draws = fc.noBias(fc.array(fc.nat(0xff_ff_ff), { minLength: 10, maxLength: 90, size: 'max' }));
  fc.assert(
    fc.property(draws, (numbers) => {
      const steps = play(apply, numbers);
      events += steps.length;
      accepted += steps.filter(({ answer }) => answer.ok).length;
      for (const [name, property] of Object.entries(TICKET_PROPERTIES)) {
        const wrong = property(steps);
        if (wrong !== null) broken[propertyName(name)] ??= wrong;
      }
    }),
    { numRuns: sequences, seed },
  );
  return { sequences, events, accepted, broken };
}

function propertyName(text: string): TicketProperty {
  const found = Object.keys(TICKET_PROPERTIES).find((name): name is TicketProperty => name === text);
  if (found === undefined) throw new Error(`${text} is no property`);
  return found;
}

/** Enough to see that nothing changes any more. */
const EVENTS_AFTER_THE_END = 5;

/** Steps on through what the reducer itself made of each event. */
function play(apply: Apply, numbers: readonly number[]): readonly Step[] {
  const steps: Step[] = [];
  let state = ticket();
  let ended = 0;
  for (const number of numbers) {
    const event = drawn(state, number);
    const answer = apply(state, event);
    steps.push({ before: state, event, answer });
    if (answer.ok) state = answer.state;
    if (isTerminal(state.phase)) ended += 1;
    if (ended > EVENTS_AFTER_THE_END) break;
  }
  return steps;
}

/**
 * Mostly an event that leads on, or random walks would end within a few steps; sometimes any; sometimes a stale one; sometimes
 * one that submits what was submitted before.
 */
function drawn(state: TicketState, number: number): TicketEvent {
  const mood = number % 16;
  const pool = mood < 14 ? LEADS_ON[state.waitingOn] : EVENT_MAKERS;
  const maker = pool[(number >> 4) % pool.length];
  if (maker === undefined) throw new Error(`nothing leads on from ${state.phase}`);
  const event = maker.make(state, number % 11 === 0 ? (number >> 8) % 4 : number);
  return mood === 15 && 'revision' in event ? { ...event, revision: event.revision - 1 } : event;
}

/** Types of events with the kinds that lead on; a kind named twice is drawn twice as often. */
type Leading = Readonly<Partial<Record<TicketEvent['type'], readonly string[]>>>;

const WORKSPACES: Leading = { workspaceStarted: ['forge'], workspaceReady: [''], workspaceEnded: ['ended'] };

/** What leads on from where the ticket waits. */
const LEADS_ON: Readonly<Record<TicketState['waitingOn'], readonly EventMaker[]>> = {
  workspace: makersOf({ ...WORKSPACES, planSubmitted: ['', ''], segmentSubmitted: ['', ''], readySubmitted: ['', ''] }),
  plan: makersOf({ planSubmitted: ['', '', ''], workspaceEnded: ['ended'], agentFailed: [''] }),
  segment: makersOf({ segmentSubmitted: ['', '', ''], workspaceEnded: ['ended'], agentFailed: [''] }),
  ready: makersOf({ readySubmitted: ['', '', ''], workspaceEnded: ['ended'] }),
  verification: makersOf({ reviewed: ['proceed', 'proceed', 'proceed', 'proceed', 'retry_producer', 'unreadable'] }),
  gate: makersOf({ gateDecided: ['pass', 'pass', 'pass', 'pass', 'rework', 'human_required'] }),
  candidate: makersOf({ candidateMade: ['', '', ''], candidateConflicted: [''] }),
  test: makersOf({ candidateTested: ['satisfied', 'satisfied', 'satisfied', 'failed', 'not_tested'] }),
  ci: makersOf({ ciReported: ['pass', 'pass', 'fail', 'none'] }),
  merge: makersOf({
    mergeIntended: ['', ''],
    landed: ['', '', 'incident'],
    landingUnanswered: [''],
    documentationLanded: [''],
    documentationFailed: [''],
    baseMoved: [''],
    pullRequestOpened: [''],
    killSwitchTurned: [''],
  }),
  documentation: makersOf({
    workspaceStarted: ['lore'],
    workspaceEnded: ['ended'],
    documentationSubmitted: [''],
    documentationIntended: ['', ''],
    nothingToDocument: [''],
    documentationFailed: [''],
  }),
  operator: makersOf({ operatorDecided: ['retry', 'retry', 'resume'], personDecided: ['override'] }),
  nothing: makersOf({ operatorDecided: ['retry', 'resume', 'abandon'] }),
};

function makersOf(leading: Leading): readonly EventMaker[] {
  return EVENT_MAKERS.flatMap((maker) => {
    const times = leading[maker.type]?.filter((kind) => kind === maker.kind).length ?? 0;
    return Array.from({ length: times }, () => maker);
  });
}

interface Taken {
  readonly before: TicketState;
  readonly event: TicketEvent;
  readonly after: TicketState;
}

function taken(steps: readonly Step[]): readonly Taken[] {
  return steps.flatMap(({ before, event, answer }) => (answer.ok ? [{ before, event, after: answer.state }] : []));
}

function first<T>(members: readonly T[], wrong: (member: T) => string | false): string | null {
  for (const [index, member] of members.entries()) {
    const what = wrong(member);
    if (what !== false) return `step ${index}: ${what}`;
  }
  return null;
}

/** Everything that a decision could have been made on. */
function position({ phase, execution, plan, segment, head, candidate, merge, round, pr }: TicketState): string {
  return JSON.stringify([phase, execution, plan, segment, head, candidate, merge, round, pr]);
}

/** Keeps its own book of passes: what the state says of itself is not believed. */
function landedJudged(steps: readonly Step[]): string | null {
  const passed = new Set<string>();
  return first(taken(steps), ({ before, event, after }) => {
    const { generation } = before.execution;
    if (event.type === 'gateDecided' && event.gate === 'merge' && event.decision === 'pass') {
      // People may overrule a reviewer who rejected, and then the gate says so.
      if ((before.review?.route === 'proceed' || event.overruled) && before.candidate !== null)
        passed.add(`${generation} ${before.candidate.commit}`);
    }
    const intends = after.merge !== null && before.merge === null;
    if (intends && !passed.has(`${generation} ${after.merge.candidate}`))
      return `${after.merge.candidate} is landed unjudged`;
    if (after.phase === 'documenting' && before.phase === 'merging' && before.merge?.state !== 'intended')
      return 'landed without intent';
    return (
      before.phase === 'testing' &&
      after.phase !== 'testing' &&
      ['merging', 'documenting', 'done'].includes(after.phase) &&
      'the merge gate was left out'
    );
  });
}

/** Counts by itself since a person last decided. */
function boundsHold(steps: readonly Step[]): string | null {
  let sentBack = 0;
  let failures = 0;
  return first(taken(steps), ({ before, event, after }) => {
    if (event.type === 'operatorDecided') {
      sentBack = 0;
      failures = 0;
      return false;
    }
    const producing = after.phase === 'planning' || (after.phase === 'building' && after.feedback !== null);
    if (producing && after.phase !== before.phase) sentBack += 1;
    const lost = event.type === 'workspaceEnded' && after.attempts.providerFailures > before.attempts.providerFailures;
    if (lost || event.type === 'agentFailed' || event.type === 'verificationUnavailable') failures += 1;
    if (sentBack > TICKET_BOUNDS.rework) return `sent back ${sentBack} times`;
    if (failures > TICKET_BOUNDS.providerFailures) return `${failures} failures of providers`;
    if (failures === TICKET_BOUNDS.providerFailures && !isStopped(after.phase) && !isTerminal(after.phase))
      return 'nobody is asked after the last failure';
    const { rework, rounds, tests, candidates, ci, docs } = after.attempts;
    const counts = [
      [rework, TICKET_BOUNDS.rework],
      [Math.max(...Object.values(rounds)), TICKET_BOUNDS.rounds - 1],
      [after.round, TICKET_BOUNDS.rounds],
      [tests, TICKET_BOUNDS.tests],
      [candidates, TICKET_BOUNDS.candidates],
      [ci, TICKET_BOUNDS.ci],
      [docs, TICKET_BOUNDS.docs],
    ] as const;
    const over = counts.findIndex(([count, bound]) => count > bound);
    return over >= 0 && `bound ${over} is passed`;
  });
}

/** Keeps its own book of what was sent back, by what it contains: what came in between, and in which commit, does not matter. */
function unchangedRefused(steps: readonly Step[]): string | null {
  let segment = 0;
  let contents = '';
  const sentBack = new Set<string>();
  // What only its tests failed, an operator may have tested once more.
  const failed = new Set<string>();
  return first(taken(steps), ({ before, event, after }) => {
    if (after.segment !== null && after.segment.n !== segment) {
      segment = after.segment.n;
      sentBack.clear();
      failed.clear();
    }
    if (event.type === 'operatorDecided') failed.clear();
    if (event.type === 'planSubmitted' || event.type === 'segmentSubmitted') {
      contents = event.type === 'planSubmitted' ? event.plan.digest : event.tree;
      return (sentBack.has(contents) || failed.has(contents)) && `${contents} was sent back and is judged again`;
    }
    // What people overruled, the gate passed after all.
    if (event.type === 'gateDecided' && event.decision === 'pass') sentBack.delete(contents);
    const isLonger = after.lineage.length > before.lineage.length || after.lineage.at(-1) !== before.lineage.at(-1);
    if (isLonger && (event.type === 'candidateTested' || event.type === 'ciReported')) failed.add(contents);
    else if (isLonger && event.type !== 'reviewed' && event.type !== 'candidateConflicted') sentBack.add(contents);
    return false;
  });
}
