/** Why a ticket stands where it stands, in words an operator can act on. Pure: the same answer for the same state and time. */
import type { TicketPhase, TicketWait } from '../../schemas/ticket/phase.ts';
import type { StopCause, TicketRejection, TicketReview, TicketState, TicketStop } from '../../schemas/ticket/state.ts';
import { OVERRIDABLE_CASES } from '../../schemas/gate/vocabulary.ts';
import { TICKET_BOUNDS, WAIT_BOUND_SECONDS } from './bounds.ts';
import { landingUnderWay, liveWorkspace } from './position.ts';

export interface TicketWhy {
  readonly ticket: string;
  readonly phase: TicketPhase;
  readonly waitingOn: TicketWait;
  /** What it waits for. */
  readonly sentence: string;
  /** Milliseconds since the epoch: when this wait began, and when it is given up; `null` when it is not. */
  readonly since: number;
  readonly until: number | null;
  /** Milliseconds it has waited; never negative. */
  readonly waited: number;
  /** What ends the wait, most likely first. Empty exactly when the ticket has ended. */
  readonly unblockedBy: readonly string[];
  readonly round: string;
  readonly execution: number;
  readonly revision: number;
  readonly lineage: readonly TicketRejection[];
}

export function why(state: TicketState, now: number): TicketWhy {
  const { ticketId, phase, waitingOn, since, revision, lineage, execution } = state;
  return {
    ticket: ticketId,
    phase,
    waitingOn,
    sentence: sentenceOf(state),
    since,
    until: deadlineOf(state),
    waited: Math.max(0, now - since),
    unblockedBy: unblockedBy(state),
    round: `${state.round} of ${TICKET_BOUNDS.rounds}`,
    execution: execution.generation,
    revision,
    lineage,
  };
}

/** When the current wait is given up, in milliseconds since the epoch; `null` when a person may take as long as they like. */
export function deadlineOf({ waitingOn, since }: TicketState): number | null {
  const seconds = WAIT_BOUND_SECONDS[waitingOn];
  return seconds === null ? null : since + seconds * 1000;
}

function sentenceOf(state: TicketState): string {
  const { segment, candidate, stop, phase, pr } = state;
  const part = segment === null ? 'the segment' : `segment ${segment.n} of ${segment.of}`;
  switch (state.waitingOn) {
    case 'workspace':
      return liveWorkspace(state, phase === 'documenting' ? 'lore' : 'forge') === null
        ? 'A workspace has to be started.'
        : 'The workspace is waiting for its slot or becoming ready.';
    case 'plan':
      return 'FORGE writes PLAN.md, pushes it and submits the commit.';
    case 'segment':
      return `FORGE builds ${part}, pushes it and submits the commit.`;
    case 'ready':
      return 'Every segment has passed; FORGE has to say that it is ready.';
    case 'verification':
      return `${subjectOf(state)} is being verified: checks first, then a reviewer in a fresh workspace.`;
    case 'gate':
      return `The gate decides on ${subjectOf(state)}.`;
    case 'candidate':
      return 'The control plane combines the head with the current base.';
    case 'test':
      return `The checks run on the candidate ${candidate?.commit ?? ''}.`;
    case 'ci':
      return `Continuous integration of ${pr?.url ?? 'the pull request'} has to pass.`;
    case 'merge':
      return 'Exactly the judged candidate is being landed.';
    case 'documentation':
      return 'The change has landed; LORE documents it.';
    case 'operator':
      return stop === null ? 'It has stopped.' : `${SENTENCE_OF_STOP[stop.cause]} (${stop.detail})`;
    case 'nothing':
      return phase === 'done' ? 'It has ended: the change has landed.' : 'It was abandoned.';
  }
}

function subjectOf({ phase, segment, plan, candidate }: TicketState): string {
  switch (phase) {
    case 'plan_review':
      return `plan ${plan?.revision ?? ''}`;
    case 'segment_review':
      return `segment ${segment?.n ?? ''} of ${segment?.of ?? ''}`;
    default:
      return `the candidate ${candidate?.commit ?? ''}`;
  }
}

/** Why it stopped, as the beginning of the sentence an operator reads. */
export const SENTENCE_OF_STOP: Readonly<Record<StopCause, string>> = {
  reviewer_asked: 'The reviewer asks for a person to decide.',
  upstream: 'The reviewer says that the cause is outside the repository.',
  gate_human_required: 'The gate needs a person.',
  gate_blocked: 'The gate cannot judge what there is.',
  missing_artifact: 'Something that is needed as evidence is missing or cannot be read.',
  unparseable_verdict: "The reviewer's verdict could not be read, twice.",
  verdict_contradicts_gate: 'The gate passes what the reviewer rejected.',
  rounds_exhausted: `It was sent back in ${TICKET_BOUNDS.rounds} rounds.`,
  rework_exhausted: `It was sent back ${TICKET_BOUNDS.rework} times in all.`,
  provider_failed: `Agents or workspaces failed ${TICKET_BOUNDS.providerFailures} times.`,
  not_tested: `The checks of the candidate had no answer ${TICKET_BOUNDS.tests} times.`,
  candidates_exhausted: `The base moved ${TICKET_BOUNDS.candidates} times while a candidate was judged.`,
  landing_refused: 'The candidate was not landed.',
  landing_incident: 'It has landed while the authority for it changed; an operator has to rule on that.',
  landing_unanswered: 'Whether the candidate has landed is not known: the branch could not be read back in time.',
  ci_unanswered: 'Continuous integration gives no answer.',
  documentation_failed: `Documenting failed ${TICKET_BOUNDS.docs} times; the change itself has landed.`,
  recovery_failed: 'It could not recover by itself.',
  wait_exceeded: 'It waited longer than it may.',
  kill_switch: 'The kill switch is on.',
};

function unblockedBy(state: TicketState): readonly string[] {
  const id = state.ticketId;
  const abandon = `portcullis ticket abandon ${id} --reason …`;
  switch (state.waitingOn) {
    case 'nothing':
      return [];
    case 'operator':
      return [
        ...beforeDeciding(state),
        `portcullis ticket decide ${id} --decision retry --reason …`,
        // A new execution waits for the answer of a landing.
        ...(landingUnderWay(state) === null ? [`portcullis ticket resume ${id} --reason …`] : []),
        abandon,
      ];
    case 'workspace':
      return ['a free slot, and a workspace that becomes ready: portcullis workspace list', abandon];
    case 'plan':
    case 'segment':
    case 'ready':
      return ["the agent's submission", abandon];
    case 'verification':
      return ['the reviewer’s appended review and its answer', abandon];
    case 'ci':
      return ['a passing report', abandon];
    case 'gate':
    case 'candidate':
    case 'test':
      return ['nothing to do: it goes on by itself', abandon];
    case 'merge':
    case 'documentation':
      return ['nothing to do: it goes on by itself'];
  }
}

/** What an operator mends first, or the same stop comes again. */
function beforeDeciding(state: TicketState): readonly string[] {
  const { stop, review, ticketId } = state;
  switch (stop?.cause) {
    case 'kill_switch':
      return ['portcullis kill-switch off --reason …'];
    case 'landing_incident':
      return [`portcullis incident list, then portcullis incident resolve ${stop.detail} --ruling close --reason …`];
    case 'landing_unanswered':
      return [
        `see that the remote answers and takes the credential (${stop.detail}): a retry reads the branch back, and lands only if it has not`,
      ];
    case 'reviewer_asked':
    case 'unparseable_verdict':
    case 'gate_human_required':
    case 'gate_blocked':
    case 'verdict_contradicts_gate':
    case 'rounds_exhausted':
    case 'rework_exhausted':
      return review === null ? [] : personsCommands(ticketId, review, stop);
    case 'missing_artifact':
      return [`make ${stop.detail} readable`];
    case undefined:
      return [];
    default:
      return [];
  }
}

/** The evidence that only a person can add; the retry then evaluates the same subject with it. */
function personsCommands(ticket: string, { people }: TicketReview, { cause, detail }: TicketStop): readonly string[] {
  if (people.length > 0) return [`nothing more: ${people.length} recorded, and a retry evaluates with it`];
  const command = `portcullis gate decide ${ticket} --decision`;
  const found = OVERRIDABLE_CASES.find((name) => detail.startsWith(`${name}:`));
  if (cause === 'reviewer_asked' || cause === 'unparseable_verdict') {
    return [`${command} override --case inconclusive --reason …, or only a retry: another reviewer looks`];
  }
  if (cause === 'verdict_contradicts_gate') return [`${command} reject --reason …`];
  if (found === undefined) return cause === 'gate_human_required' ? [`${command} approve --reason …`] : [];
  return [`${command} override --case ${found} --reason … (who may: portcullis gate why ${ticket})`];
}
