/** The recorded paths of `ticket`, each with what its activities, children and agents are scripted to. */
import { Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { portcullisError } from '../../schemas/errors.ts';
import { TICKET_SIGNALS, type KillSwitchNotice } from '../../schemas/ticket/workflow.ts';
import { commit } from '../support/ticket-fixtures.ts';
import { pollUntil } from '../support/poll.ts';
import { rejected, type StagedTicket, type TicketScript } from './ticket-stage.ts';

export interface TicketPath {
  readonly name: string;
  /** Name of the run that follows when this one continues as new. */
  readonly then?: string;
  readonly script: TicketScript;
  readonly meanwhile?: (staged: StagedTicket) => Promise<void>;
}

/** The agent of that phase sits there until it is interrupted. */
function holdIn(phase: string): NonNullable<TicketScript['agent']> {
  return async (_, turn, assignment) => {
    if (assignment.phase !== phase) return null;
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(turn.turn), 50);
    await context.cancelled.catch(() => {}).finally(() => clearInterval(beat));
    throw new CancelledFailure('interrupted');
  };
}

async function untilWorking(staged: StagedTicket, phase: string): Promise<void> {
  const isWorking = async () => {
    const state = await staged.state();
    return state.phase === phase && state.waitingOn !== 'workspace' && staged.assignments.length > 0;
  };
  await pollUntil(isWorking, { what: `an agent to work in ${phase}`, deadlineMs: 20_000 });
}

async function abandon(staged: StagedTicket, phase: 'blocked' | 'awaiting_human'): Promise<void> {
  const { revision } = await staged.until(phase);
  await staged.update('abandon', { revision, by: 'c-op', reason: 'no more' });
}

async function retryUnanswered(staged: StagedTicket, where: 'merging' | 'documenting'): Promise<void> {
  const isStopped = async () => {
    const state = await staged.state();
    return state.phase === 'awaiting_human' && state.resumePhase === where && state.revision;
  };
  const revision = await pollUntil(isStopped, { what: `a landing in ${where} without an answer`, deadlineMs: 40_000 });
  await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'mended' });
}

function loseIn(segment: number): NonNullable<TicketScript['agent']> {
  let lost = false;
  return async (staged, turn, assignment) => {
    if (assignment.segment?.n !== segment || lost) return null;
    lost = true;
    await staged.client.workflow.getHandle(turn.run).signal('lose');
    return await holdIn('building')(staged, turn, assignment);
  };
}

export const TICKET_PATHS: readonly TicketPath[] = [
  {
    name: 'merged-after-rework',
    script: {
      segments: 2,
      documentation: true,
      verification: (input, n) => (n === 2 ? rejected(input) : null),
      gate: (_, n) => (n === 2 ? 'rework' : 'pass'),
    },
  },
  {
    name: 'kill-switch',
    script: { agent: holdIn('planning') },
    meanwhile: async (staged) => {
      await untilWorking(staged, 'planning');
      const notice: KillSwitchNotice = { reason: 'drill', by: 'c-op' };
      await staged.handle.signal(TICKET_SIGNALS.killSwitch, notice);
      await abandon(staged, 'blocked');
    },
  },
  {
    name: 'awaiting-human-then-resumed',
    script: { gate: (_, n) => (n === 1 ? 'human_required' : 'pass') },
    meanwhile: async (staged) => {
      const { revision } = await staged.until('awaiting_human');
      await staged.update('resume', { revision, by: 'c-op', reason: 'seen' });
    },
  },
  {
    name: 'abandoned',
    script: { gate: () => 'human_required' },
    meanwhile: (staged) => abandon(staged, 'awaiting_human'),
  },
  {
    name: 'cancelled',
    script: { agent: holdIn('building') },
    meanwhile: async (staged) => {
      await untilWorking(staged, 'building');
      await staged.handle.cancel();
    },
  },
  { name: 'workspace-lost', script: { segments: 2, agent: loseIn(2) } },
  { name: 'workspace-unready', script: { workspace: (n) => n > 1 } },
  {
    name: 'base-moved',
    script: {
      land: (tries) =>
        tries === 1
          ? { outcome: 'base_moved', now: commit(0xba5f) }
          : { outcome: 'landed', commit: commit(2), fencing: 2, epoch: null, incident: false },
    },
  },
  {
    name: 'landing-unanswered',
    script: {
      documentation: true,
      land: (tries, { candidate }) => {
        // Of the change, then of its documentation.
        if (tries % 2 === 1) throw portcullisError('remote_refused', { reason: 'it is not among `git.remotes`' });
        return { outcome: 'landed', commit: candidate, fencing: 2, epoch: null, incident: false };
      },
    },
    meanwhile: async (staged) => {
      await retryUnanswered(staged, 'merging');
      await retryUnanswered(staged, 'documenting');
    },
  },
  {
    name: 'continued',
    then: 'carried',
    script: { segments: 2, historyLimit: 60, gate: (_, n) => (n === 2 ? 'human_required' : 'pass') },
    meanwhile: (staged) => abandon(staged, 'awaiting_human'),
  },
];
