/** The real ticket workflow, with scripted activities, where it lands: answers that are lost, switches and cancels in between. */
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { portcullisError } from '../../schemas/errors.ts';
import type { LandAnswer, LandRequest } from '../../schemas/git/activities.ts';
import { commit, TICKETS } from '../support/ticket-fixtures.ts';
import {
  bundleTicket,
  codeOfRefusal,
  killSwitch,
  playTicket,
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

const landedAs = (candidate: string, incident = false): LandAnswer => ({
  outcome: 'landed',
  commit: candidate,
  fencing: 1,
  epoch: null,
  incident,
});

test.concurrent(
  'the switch that is turned on while a candidate lands stops the ticket once the landing is answered',
  async () => {
    const begun = Promise.withResolvers<undefined>();
    const landing = Promise.withResolvers<undefined>();
    const script: TicketScript = {
      from: TICKETS.merging,
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

test.concurrent(
  'a landing under which authority changed is an incident, and the ticket ends only when an operator ruled',
  async () => {
    const script: TicketScript = {
      from: TICKETS.merging,
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
    from: TICKETS.documented,
    documentation: true,
    land: (_, { candidate }) => {
      landings += 1;
      return landedAs(candidate, true);
    },
  };
  await playTicket(theatre, 'doc-incident', script, async (staged) => {
    const landed = await staged.until('awaiting_human');
    expect(landed).toMatchObject({ stop: { cause: 'landing_incident' }, documentation: { landed: true } });
    await staged.update('decide', { revision: landed.revision, by: 'c-op', decision: 'retry', reason: 'looked at it' });
    expect((await staged.handle.result()).phase).toBe('done');
    expect(landings).toBe(1);
  });
});

/** The remote is not named by the settings any more: only an operator mends that. */
const unknownRemote = () => portcullisError('remote_refused', { reason: 'it is not among `git.remotes`' });

test.concurrent(
  '[inv-18] a landing whose answer is missing waits for an operator, and is read back before anything else',
  async () => {
    const requests: LandRequest[] = [];
    let epoch = 7;
    const script: TicketScript = {
      from: TICKETS.merging,
      epoch: () => epoch,
      land: (tries, request) => {
        requests.push(request);
        epoch = 8;
        if (tries === 1) throw unknownRemote();
        return landedAs(request.candidate);
      },
    };
    await playTicket(theatre, 'unanswered', script, async (staged) => {
      const stopped = await staged.until('awaiting_human');
      expect(stopped).toMatchObject({
        ...{ stop: { cause: 'landing_unanswered', detail: 'remote_refused' } },
        ...{ merge: { state: 'intended' }, resumePhase: 'merging' },
      });
      const { revision } = stopped;
      const resumed = await staged.update('resume', { revision, by: 'c-op', reason: 'over' });
      expect(resumed).toMatchObject({ refusal: { code: 'merge_in_progress' } });
      // It is stopped already, and what it landed under is asked again when it goes on.
      await killSwitch(staged, { reason: 'drill', by: 'c-op' });
      await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'mended' });
      expect(await staged.handle.result()).toMatchObject({ phase: 'done', merged: stopped.merge?.candidate });
      // The second asks about the same candidate, with the epoch of the intent.
      expect(requests.map((request) => request.epoch)).toEqual([7, 7]);
      expect(requests[1]).toEqual(requests[0]);
    });
  },
);

test.concurrent('[inv-18] whatever an attempt to land failed with, the next one reads back', async () => {
  const script: TicketScript = {
    from: TICKETS.merging,
    land: (tries, { candidate }) => {
      if (tries === 1) throw portcullisError('repository_invalid', { path: 'the repository', reason: 'git was ended' });
      if (tries === 2) throw portcullisError('not_found', { what: 'decision', id: 'k' });
      return landedAs(candidate);
    },
  };
  await playTicket(theatre, 'ambiguous', script, async (staged) => {
    const outcome = await staged.handle.result();
    expect(outcome).toMatchObject({ phase: 'done', merged: staged.states.at(-1)?.merge?.candidate });
    expect(staged.events.some(({ type }) => type === 'landingRefused')).toBe(false);
  });
});

test.concurrent('[inv-18] giving a landing up without an answer is on record as an incident', async () => {
  const script: TicketScript = {
    from: TICKETS.merging,
    land: () => {
      throw unknownRemote();
    },
  };
  await playTicket(theatre, 'given-up', script, async (staged) => {
    const { revision, merge } = await staged.until('awaiting_human');
    await staged.update('abandon', { revision, by: 'c-op', reason: 'the remote is gone' });
    expect(await staged.handle.result()).toMatchObject({ phase: 'abandoned', merged: null });
    expect([...staged.incidents]).toEqual([[`landing-${merge?.candidate.slice(0, 20) ?? ''}`, 'abandon']]);
  });
});

test.concurrent(
  '[inv-13] so is a cancel of a ticket that waits for such an answer, and nobody has ruled on it',
  async () => {
    const script: TicketScript = {
      from: TICKETS.merging,
      land: () => {
        throw unknownRemote();
      },
    };
    await playTicket(theatre, 'unanswered-cancel', script, async (staged) => {
      await staged.until('awaiting_human');
      await staged.handle.cancel();
      expect(await staged.handle.result().catch((error: unknown) => error)).toBeInstanceOf(WorkflowFailedError);
      expect(staged.states.at(-1)?.phase).toBe('abandoned');
      expect(staged.events.at(-1)).toMatchObject({ type: 'cancelled', actor: 'ticket' });
      expect([...staged.incidents.values()]).toEqual([null]);
    });
  },
);

test.concurrent(
  '[inv-13] a cancel between the intent and its landing ends the ticket once that is heard out',
  async () => {
    const begun = Promise.withResolvers<undefined>();
    const cancelled = Promise.withResolvers<undefined>();
    const script: TicketScript = {
      from: TICKETS.merging,
      // It is about to continue as new with its intent.
      historyLimit: 5,
      recording: async ({ type }) => {
        if (type !== 'mergeIntended') return;
        begun.resolve(undefined);
        await cancelled.promise;
      },
    };
    await playTicket(theatre, 'cancel-intended', script, async (staged) => {
      await begun.promise;
      await staged.handle.cancel();
      cancelled.resolve(undefined);
      const ended = await staged.handle.result().catch((error: unknown) => error);
      expect(ended instanceof WorkflowFailedError && ended.cause).toBeInstanceOf(CancelledFailure);
      expect(staged.states.at(-1)).toMatchObject({ phase: 'done', merge: { state: 'landed' } });
    });
  },
);

test.concurrent(
  '[inv-18] the switch that is turned on while a documentation lands stops nothing before its answer and its incident are recorded',
  async () => {
    const begun = Promise.withResolvers<undefined>();
    const landing = Promise.withResolvers<undefined>();
    const script: TicketScript = {
      from: TICKETS.documented,
      documentation: true,
      land: async (_, { candidate }) => {
        begun.resolve(undefined);
        await landing.promise;
        return landedAs(candidate, true);
      },
    };
    await playTicket(theatre, 'doc-switch', script, async (staged) => {
      await begun.promise;
      await killSwitch(staged, { reason: 'drill', by: 'c-op' });
      const { revision, phase } = await staged.state();
      const refused = await staged.update('abandon', { revision, by: 'c-op', reason: 'x' }).catch((e: unknown) => e);
      landing.resolve(undefined);
      expect([phase, codeOfRefusal(refused)]).toEqual(['documenting', 'merge_in_progress']);
      const stopped = await staged.until('awaiting_human');
      expect(stopped).toMatchObject({ stop: { cause: 'landing_incident' }, documentation: { landed: true } });
      expect([...staged.incidents]).toEqual([[stopped.stop?.detail, null]]);
      const decision = { revision: stopped.revision, by: 'c-op', decision: 'retry', reason: 'seen' } as const;
      await staged.update('decide', decision);
      expect((await staged.handle.result()).phase).toBe('done');
      expect([...staged.incidents.values()]).toEqual(['retry']);
    });
  },
);

test.concurrent('[inv-18] a documentation that landed unheard is not made again', async () => {
  const candidates: string[] = [];
  const script: TicketScript = {
    from: TICKETS.documented,
    documentation: true,
    land: (tries, { candidate }) => {
      candidates.push(candidate);
      if (tries === 1) throw unknownRemote();
      return landedAs(candidate);
    },
  };
  await playTicket(theatre, 'doc-unheard', script, async (staged) => {
    const { revision } = await staged.until('awaiting_human');
    await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'mended' });
    expect((await staged.handle.result()).phase).toBe('done');
    expect(candidates).toHaveLength(2);
    expect(candidates[1]).toBe(candidates[0]);
    expect(staged.events.some(({ type }) => type === 'documentationFailed')).toBe(false);
  });
});

test.concurrent('[inv-18] a landing under way is heard out before anything is asked of admission', async () => {
  let asked = 0;
  const script: TicketScript = {
    from: TICKETS.intended,
    admit: () => {
      asked += 1;
      if (asked === 1) throw portcullisError('record_unreadable', { record: 'kill switch', reason: 'x' });
      return { stopped: null, unknownCheck: null };
    },
  };
  await playTicket(theatre, 'unadmitted', script, async (staged) => {
    const { revision, ...stopped } = await staged.until('awaiting_human');
    expect(stopped).toMatchObject({
      ...{ merge: { state: 'landed' }, resumePhase: 'documenting' },
      stop: { cause: 'recovery_failed', detail: 'record_unreadable' },
    });
    await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'mended' });
    expect((await staged.handle.result()).phase).toBe('done');
  });
});
