/** The real ticket workflow, with scripted activities, where operators and people come in: gates, the kill switch, incidents. */
import { Client, Connection, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parseDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { repeatedUpdateId } from '../../schemas/ticket/update-id.ts';
import { TICKET_SIGNALS, type DecideGate, type KillSwitchNotice } from '../../schemas/ticket/workflow.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { commit } from '../support/ticket-fixtures.ts';
import { pollUntil } from '../support/poll.ts';
import { bundleTicket, playTicket, type StagedTicket, type TicketScript, type TicketTheatre } from './ticket-stage.ts';

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

function codeOfRefusal(answer: unknown): unknown {
  if (!(answer instanceof WorkflowUpdateFailedError)) return answer;
  return answer.cause instanceof ApplicationFailure ? answer.cause.type : answer.cause;
}

const killSwitch = ({ handle }: StagedTicket, notice: KillSwitchNotice) =>
  handle.signal(TICKET_SIGNALS.killSwitch, notice);

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

test.concurrent(
  'the switch that is turned on while a candidate lands stops the ticket once the landing is answered',
  async () => {
    const begun = Promise.withResolvers<undefined>();
    const landing = Promise.withResolvers<undefined>();
    const script: TicketScript = {
      documentation: true,
      land: async (tries) => {
        begun.resolve(undefined);
        await landing.promise;
        return {
          outcome: 'landed',
          commit: commit(tries),
          fencing: 1,
          epoch: { before: 1, after: 1 },
          incident: false,
        };
      },
    };
    await playTicket(theatre, 'killed-landing', script, async (staged) => {
      await begun.promise;
      await killSwitch(staged, { reason: 'drill', by: 'c-op' });
      landing.resolve(undefined);
      const stopped = await staged.until('blocked');
      expect(stopped).toMatchObject({
        merge: { state: 'landed' },
        resumePhase: 'documenting',
        stop: { cause: 'kill_switch' },
      });
      await staged.update('decide', { revision: stopped.revision, by: 'c-op', decision: 'retry', reason: 'off' });
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
      expect((await staged.handle.result()).phase).toBe('done');
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
    expect((await staged.handle.result()).phase).toBe('done');
    expect(answers[0]).toMatchObject({ accepted: true });
    expect(answers[1]).toEqual(answers[0]);
    expect(staged.events.filter(({ type }) => type === 'planSubmitted')).toHaveLength(1);
  });
});

test.concurrent('a commit that is not there is an answer, and the same answer for good', async () => {
  const answers: unknown[] = [];
  let looks = 0;
  const script: TicketScript = {
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
    expect((await staged.handle.result()).phase).toBe('done');
    expect(answers[0]).toMatchObject({ accepted: false, refusal: { code: 'missing_artifact' } });
    expect(answers[1]).toEqual(answers[0]);
  });
});

test.concurrent(
  'a landing under which authority changed is an incident, and the ticket ends only when an operator ruled',
  async () => {
    const script: TicketScript = {
      land: () => ({
        outcome: 'landed',
        commit: commit(0xca),
        fencing: 1,
        epoch: { before: 1, after: 2 },
        incident: true,
      }),
    };
    await playTicket(theatre, 'incident', script, async (staged) => {
      const landed = await staged.until('awaiting_human');
      expect(landed).toMatchObject({ merge: { state: 'landed' }, stop: { cause: 'landing_incident' } });
      expect([...staged.incidents]).toEqual([[landed.stop?.detail, null]]);
      await staged.update('decide', {
        revision: landed.revision,
        by: 'c-op',
        decision: 'retry',
        reason: 'looked at it',
      });
      expect(await staged.handle.result()).toMatchObject({ phase: 'done', merged: landed.merge?.candidate });
      expect([...staged.incidents.values()]).toEqual(['retry']);
    });
  },
);

test.concurrent('so is one of a documentation, which is then not made again', async () => {
  let landings = 0;
  const script: TicketScript = {
    documentation: true,
    land: () => {
      landings += 1;
      return { outcome: 'landed', commit: commit(0xd0 + landings), fencing: 1, epoch: null, incident: landings === 2 };
    },
  };
  await playTicket(theatre, 'doc-incident', script, async (staged) => {
    const landed = await staged.until('awaiting_human');
    expect(landed).toMatchObject({ stop: { cause: 'landing_incident' }, documentation: { landed: true } });
    await staged.update('decide', { revision: landed.revision, by: 'c-op', decision: 'retry', reason: 'looked at it' });
    expect((await staged.handle.result()).phase).toBe('done');
    expect(landings).toBe(2);
  });
});
