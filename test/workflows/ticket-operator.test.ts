/** The real ticket workflow, with scripted activities, where operators and people come in: gates, the kill switch, submissions that are refused. */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parseDigest } from '../../schemas/digest.ts';
import { UPDATE_BOUNDS } from '../../policies/tickets/allowance.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { GateDecisionWord } from '../../schemas/gate/vocabulary.ts';
import { repeatedUpdateId } from '../../schemas/ticket/update-id.ts';
import type { DecideGate } from '../../schemas/ticket/workflow.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { after, candidateTested, commit, TICKETS, treeOf } from '../support/ticket-fixtures.ts';
import { pollUntil } from '../support/poll.ts';
import {
  bundleTicket,
  codeOfRefusal,
  killSwitch,
  playTicket,
  rejected,
  submit,
  type StagedTicket,
  type TicketScript,
  type TicketTheatre,
} from './ticket-stage.ts';

let theatre: TicketTheatre;
let connection: Connection;

beforeAll(async () => {
  const address = inject('temporalAddress');
  connection = await Connection.connect({ address });
  const [native, workflowBundle] = await Promise.all([NativeConnection.connect({ address }), bundleTicket()]);
  theatre = { client: new Client({ connection }), connection: native, workflowBundle };
});
afterAll(async () => {
  await theatre.connection.close();
  await connection.close();
});

/** What a person says of what the ticket stands at. */
function approvalOf({ review, revision }: TicketState): DecideGate {
  return {
    revision,
    by: 'c-op',
    gate: review?.gate ?? 'plan',
    subjectDigest: parseDigest('subject', review?.subjectDigest ?? ''),
    decision: 'approve',
    case: null,
    reason: 'read it',
    expiresAt: null,
  };
}

/** What it was played for is done: the operator who is asked next gives it up. */
async function leave(staged: StagedTicket): Promise<void> {
  const { revision } = await staged.until('awaiting_human');
  await staged.update('abandon', { revision, by: 'c-op', reason: 'seen' });
  await staged.handle.result();
}

test.concurrent('a person’s decision moves nothing; the retry evaluates the same subject once more', async () => {
  const script: TicketScript = { gate: (_, n) => (n === 1 ? 'human_required' : 'pass') };
  await playTicket(theatre, 'person', script, async (staged) => {
    const held = await staged.until('awaiting_human');
    const asked = approvalOf(held);
    const stale = await staged
      .update('decideGate', { ...asked, revision: held.revision - 1 })
      .catch((error: unknown) => error);
    expect(codeOfRefusal(stale)).toBe('ticket_stale');
    const foreign = { ...asked, subjectDigest: parseDigest('subject', `sha256:${'6'.repeat(64)}`) };
    expect(await staged.update('decideGate', foreign)).toMatchObject({ refusal: { code: 'ticket_mismatch' } });
    expect(staged.people).toEqual([]);
    const taken = await staged.update('decideGate', asked, 'decision-1');
    expect(taken).toEqual({ accepted: true, revision: held.revision, phase: 'awaiting_human' });
    expect(await staged.update('decideGate', asked, 'decision-1')).toEqual(taken);
    expect(staged.people).toMatchObject([{ tenant: 'test', ticket: 'person', by: 'c-op', decision: 'approve' }]);
    await staged.update('decide', { revision: held.revision, by: 'c-op', decision: 'retry', reason: 'approved' });
    expect((await staged.handle.result()).phase).toBe('done');
    const [first, second] = staged.gates;
    expect(second).toMatchObject({ kind: 'plan', subjectDigest: first?.subjectDigest });
    expect(second?.n).toBeGreaterThan(first?.n ?? 0);
    // Nothing was verified again for it.
    expect(staged.verifications.filter(({ parameters }) => parameters.gate === 'plan')).toHaveLength(1);
  });
});

test.concurrent(
  '[inv-05] what the store refuses of a person is the answer, and the ticket stays as it was',
  async () => {
    const script: TicketScript = {
      gate: () => 'human_required',
      person: () => ({ kind: 'refused', refusal: { code: 'not_allowed', details: { action: 'decide at a gate' } } }),
    };
    await playTicket(theatre, 'nobody', script, async (staged) => {
      const held = await staged.until('awaiting_human');
      expect(await staged.update('decideGate', approvalOf(held))).toMatchObject({ refusal: { code: 'not_allowed' } });
      expect((await staged.state()).review?.people).toEqual([]);
      await staged.update('abandon', { revision: held.revision, by: 'c-op', reason: 'seen' });
      await staged.handle.result();
    });
  },
);

test.concurrent(
  'the kill switch stops a ticket at work, its workspace goes, and it goes on when an operator says so',
  async () => {
    const working = Promise.withResolvers<StagedTicket>();
    const script: TicketScript = {
      verification: (_, n) => {
        if (n > 1) return null;
        return 'hang';
      },
    };
    await playTicket(theatre, 'killed', script, async (staged) => {
      working.resolve(staged);
      await staged.until('plan_review');
      await pollUntil(() => Promise.resolve(staged.verifications.length > 0), { what: 'a verification' });
      await killSwitch(staged, { reason: 'incident 7', by: 'c-op' });
      const blocked = await staged.until('blocked');
      expect(blocked).toMatchObject({
        stop: { cause: 'kill_switch', detail: 'incident 7' },
        resumePhase: 'plan_review',
      });
      // Told twice changes nothing.
      await killSwitch(staged, { reason: 'incident 7', by: 'c-op' });
      expect((await staged.state()).revision).toBe(blocked.revision);
      await pollUntil(() => Promise.resolve(staged.gone.get('forge/1') === 'failed'), {
        what: 'the workspace to be gone',
      });
      await staged.update('resume', { revision: blocked.revision, by: 'c-op', reason: 'over' });
      expect((await staged.handle.result()).phase).toBe('done');
    });
  },
);

test.concurrent(
  'a ticket that starts or is sent on while the switch is on is stopped before it does anything',
  async () => {
    let on = true;
    const script: TicketScript = {
      admit: () => ({ stopped: on ? { reason: 'drill', by: 'c-op' } : null, unknownCheck: null }),
    };
    await playTicket(theatre, 'killed-early', script, async (staged) => {
      const first = await staged.until('blocked');
      expect(first.stop).toEqual({ cause: 'kill_switch', detail: 'drill' });
      await staged.update('decide', { revision: first.revision, by: 'c-op', decision: 'retry', reason: 'too early' });
      const second = await pollUntil(
        async () => {
          const state = await staged.state();
          return state.phase === 'blocked' && state.revision > first.revision && state;
        },
        { what: 'the ticket to be stopped again' },
      );
      expect(staged.started).toEqual([]);
      on = false;
      await staged.update('decide', { revision: second.revision, by: 'c-op', decision: 'retry', reason: 'it is off' });
      expect((await staged.handle.result()).phase).toBe('done');
    });
  },
);

test.concurrent('[inv-19] a ticket whose checks no gate knows is stopped at its start, by name', async () => {
  const script: TicketScript = {
    admit: () => ({ stopped: null, unknownCheck: { check: 'mocha', reason: 'no gate has a check of that name' } }),
  };
  await playTicket(theatre, 'unknown-check', script, async (staged) => {
    const stopped = await staged.until('awaiting_human');
    expect(stopped.stop?.detail).toContain('check_unknown: mocha');
    expect(staged.started).toEqual([]);
    await staged.update('abandon', { revision: stopped.revision, by: 'c-op', reason: 'mend the file' });
    await staged.handle.result();
  });
});

test.concurrent(
  '[inv-08] a submission that nobody could look at is not remembered: sent again, it is looked at again',
  async () => {
    const answers: unknown[] = [];
    let looks = 0;
    const script: TicketScript = {
      gate: () => 'human_required',
      pushed: () => {
        looks += 1;
        if (looks === 1)
          throw portcullisError('repository_invalid', { path: 'the repository', reason: 'cannot be read' });
        return { pushed: true, tree: commit(1) };
      },
      agent: async (staged, _, assignment) => {
        if (assignment.phase !== 'planning') return null;
        const request = { revision: assignment.revision, by: 'c-agent', commit: commit(0x77) };
        answers.push(await staged.update('submitPlan', request, 'plan-1'));
        // Temporal knows the id.
        answers.push(await staged.update('submitPlan', request, 'plan-1'));
        answers.push(await staged.update('submitPlan', request, repeatedUpdateId('plan-1', 'a')));
        // What was taken is remembered for every id of the request.
        answers.push(await staged.update('submitPlan', request, repeatedUpdateId('plan-1', 'b')));
        return { outcome: 'answered', message: '' };
      },
    };
    await playTicket(theatre, 'unlooked', script, async (staged) => {
      await leave(staged);
      const [first, repeated, taken, again] = answers;
      expect(first).toEqual({
        accepted: false,
        refusal: { code: 'submission_unavailable', details: { reason: 'repository_invalid' } },
      });
      expect(repeated).toEqual(first);
      expect(taken).toMatchObject({ accepted: true, phase: 'plan_review' });
      expect(again).toEqual(taken);
      expect(staged.events.filter(({ type }) => type === 'planSubmitted')).toHaveLength(1);
    });
  },
);

test.concurrent('[inv-08] one submission that is looked at twice at once is taken once', async () => {
  const answers: unknown[] = [];
  const both = Promise.withResolvers<undefined>();
  let looks = 0;
  const script: TicketScript = {
    gate: () => 'human_required',
    pushed: async () => {
      looks += 1;
      if (looks === 2) both.resolve(undefined);
      if (looks <= 2) await both.promise;
      return { pushed: true, tree: commit(1) };
    },
    agent: async (staged, _, assignment) => {
      if (assignment.phase !== 'planning') return null;
      const request = { revision: assignment.revision, by: 'c-agent', commit: commit(0x78) };
      answers.push(
        ...(await Promise.all([
          staged.update('submitPlan', request, 'plan-2'),
          staged.update('submitPlan', request, repeatedUpdateId('plan-2', 'a')),
        ])),
      );
      return { outcome: 'answered', message: '' };
    },
  };
  await playTicket(theatre, 'twice', script, async (staged) => {
    await leave(staged);
    expect(answers[0]).toMatchObject({ accepted: true });
    expect(answers[1]).toEqual(answers[0]);
    expect(staged.events.filter(({ type }) => type === 'planSubmitted')).toHaveLength(1);
  });
});

test.concurrent('a commit that is not there is an answer, and the same answer for good', async () => {
  const answers: unknown[] = [];
  let looks = 0;
  const script: TicketScript = {
    gate: () => 'human_required',
    pushed: () => {
      looks += 1;
      return looks === 1 ? { pushed: false, reason: 'unknown_commit' } : { pushed: true, tree: commit(1) };
    },
    agent: async (staged, _, assignment) => {
      if (assignment.phase !== 'planning') return null;
      const request = { revision: assignment.revision, by: 'c-agent', commit: commit(0x79) };
      answers.push(await staged.update('submitPlan', request, 'plan-3'));
      answers.push(await staged.update('submitPlan', request, repeatedUpdateId('plan-3', 'a')));
      return null;
    },
  };
  await playTicket(theatre, 'absent', script, async (staged) => {
    await leave(staged);
    expect(answers[0]).toMatchObject({ accepted: false, refusal: { code: 'missing_artifact' } });
    expect(answers[1]).toEqual(answers[0]);
  });
});

test.concurrent(
  'a step that the switch itself breaks while it stops the ticket leaves a ticket that an operator can send on',
  async () => {
    const script: TicketScript = {
      from: TICKETS.candidateVerified,
      gate: async (_, n, staged): Promise<GateDecisionWord> => {
        if (n > 1) return 'pass';
        await killSwitch(staged, { reason: 'drill', by: 'c-op' });
        await staged.until('blocked');
        throw portcullisError('kill_switch', { reason: 'drill' });
      },
    };
    await playTicket(theatre, 'killed-deciding', script, async (staged) => {
      const { revision, stop } = await staged.until('blocked');
      expect(stop).toEqual({ cause: 'kill_switch', detail: 'drill' });
      await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'it is off' });
      expect((await staged.handle.result()).phase).toBe('done');
    });
  },
);

test.concurrent('[inv-19] an agent that submits without end is refused cheaply, and an operator is heard', async () => {
  const codes: unknown[] = [];
  const ended = Promise.withResolvers<undefined>();
  const script: TicketScript = {
    pushed: () => ({ pushed: false, reason: 'unknown_commit' }),
    agent: async (staged, _, { revision }) => {
      const one = async (n: number) => {
        const asked = { revision, by: 'c-agent', commit: commit(0xb000 + n) };
        const answer = await staged.update('submitPlan', asked).catch((error: unknown) => error);
        codes.push(codeOfRefusal(answer) === answer ? 'answered' : codeOfRefusal(answer));
      };
      await Promise.all(Array.from({ length: 9 }, (__, n) => one(n)));
      for (let n = 9; n < 40; n += 1) await one(n);
      ended.resolve(undefined);
      await staged.until('abandoned');
      return { outcome: 'answered', message: '' };
    },
  };
  await playTicket(theatre, 'flooded', script, async (staged) => {
    await ended.promise;
    const answered = codes.filter((code) => code === 'answered');
    expect(answered).toHaveLength(UPDATE_BOUNDS.refused);
    expect(new Set(codes)).toEqual(new Set(['answered', 'rate_limited', 'limit']));
    const { revision } = await staged.state();
    await staged.update('abandon', { revision, by: 'c-op', reason: 'flooded' });
    await staged.handle.result();
    const { events } = await staged.handle.fetchHistory();
    const accepted = (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
    expect(accepted).toHaveLength(UPDATE_BOUNDS.refused + 1);
  });
});

test.concurrent('[inv-02] what was sent back is not judged again in another commit of the same contents', async () => {
  const answers: unknown[] = [];
  const script: TicketScript = {
    from: TICKETS.building,
    verification: (input, n) => (n === 1 ? rejected(input) : null),
    gate: (_, n) => (n === 1 ? 'rework' : 'pass'),
    pushed: (of) =>
      of.commit === commit(0xa1) || of.commit === commit(0xa2) ? { pushed: true, tree: commit(0xa) } : null,
    agent: async (staged, _, assignment) => {
      if (assignment.segment === null) return null;
      answers.push(await submit(staged, assignment, commit(assignment.round === 1 ? 0xa1 : 0xa2)));
      return { outcome: 'answered', message: '' };
    },
  };
  await playTicket(theatre, 'shopping', script, async (staged) => {
    await pollUntil(() => Promise.resolve(answers.length > 1), { what: 'a second submission', deadlineMs: 40_000 });
    const { revision } = await staged.state();
    await staged.update('abandon', { revision, by: 'c-op', reason: 'seen' });
    await staged.handle.result();
    expect(answers.slice(0, 2)).toMatchObject([{ accepted: true }, { refusal: { code: 'candidate_unchanged' } }]);
  });
});

test.concurrent('a segment whose candidate failed its tests is judged again as it is once the base moved', async () => {
  const moved = commit(0xba5f);
  const script: TicketScript = {
    from: after(TICKETS.withCandidate, candidateTested('failed')),
    pushed: () => ({ pushed: true, tree: treeOf(0x52) }),
    base: () => moved,
  };
  await playTicket(theatre, 'moved-base', script, async (staged) => {
    expect((await staged.handle.result()).phase).toBe('done');
    expect(staged.events.find(({ type }) => type === 'segmentSubmitted')).toMatchObject({ base: moved });
  });
});
