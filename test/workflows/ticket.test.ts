/** The ticket workflow: the real one, with scripted activities and children. */
import { Context } from '@temporalio/activity';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { commit } from '../support/ticket-fixtures.ts';
import { pollUntil } from '../support/poll.ts';
import {
  bundleTicket,
  codeOfRefusal,
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

/** The phases that a ticket went through, each once in a row. */
function phases({ states }: StagedTicket): readonly string[] {
  return states.map(({ phase }) => phase).filter((phase, index, all) => phase !== all[index - 1]);
}

async function untilGone(staged: StagedTicket): Promise<void> {
  await pollUntil(() => Promise.resolve(staged.started.every((run) => staged.gone.has(run))), {
    what: `all of ${staged.started.join(', ')} to be gone; gone are ${[...staged.gone.keys()].join(', ')}`,
  });
}

test.concurrent(
  'a ticket goes from plan to merged change, each phase behind its gate, and leaves no workspace',
  async () => {
    await playTicket(theatre, 'happy', { segments: 2, documentation: true }, async (staged) => {
      const outcome = await staged.handle.result();
      expect(outcome).toMatchObject({ ticket: 'happy', phase: 'done' });
      expect(outcome.merged).toBe(staged.states.at(-1)?.merge?.candidate);
      expect(phases(staged)).toEqual([
        'planning',
        'plan_review',
        'building',
        'segment_review',
        'building',
        'segment_review',
        'building',
        'testing',
        'review_ready',
        'merging',
        'documenting',
        'done',
      ]);
      expect(staged.gates.map(({ kind }) => kind)).toEqual(['plan', 'segment', 'segment', 'merge', 'operation']);
      expect(staged.verifications.map(({ scope, parameters }) => `${parameters.gate} ${scope}`)).toEqual([
        'plan review',
        'segment review',
        'segment review',
        'merge checks',
        'merge review',
      ]);
      // Numbers name workspaces and workflows: none is used twice.
      expect(new Set(staged.verifications.map(({ n }) => n)).size).toBe(5);
      expect(Object.fromEntries(staged.gone)).toEqual({ 'forge/1': 'merged', 'lore/1': 'merged' });
      expect(staged.started).toEqual(['forge/1', 'lore/1']);
    });
  },
);

test.concurrent('[inv-03] exactly the candidate that was tested and judged is landed', async () => {
  await playTicket(theatre, 'exact', {}, async (staged) => {
    await staged.handle.result();
    const last = staged.states.at(-1);
    const judged = staged.verifications.filter(({ parameters }) => parameters.gate === 'merge');
    expect(new Set(judged.map(({ parameters }) => parameters.change.head))).toEqual(new Set([last?.merge?.candidate]));
  });
});

test.concurrent('a rejected segment goes back with the reason and is judged again at another commit', async () => {
  const script: TicketScript = {
    verification: (input, n) => (n === 2 ? rejected(input) : null),
    gate: (_, n) => (n === 2 ? 'rework' : 'pass'),
  };
  await playTicket(theatre, 'rework', script, async (staged) => {
    expect((await staged.handle.result()).phase).toBe('done');
    const building = staged.assignments.filter(({ segment }) => segment !== null);
    expect(building.map(({ round }) => round)).toEqual([1, 2]);
    expect(building[1]?.feedback).toContain('open_blocker:finding_open:f-1');
    const [first, second] = staged.verifications.filter(({ parameters }) => parameters.gate === 'segment');
    expect(first?.parameters.change.head).not.toBe(second?.parameters.change.head);
    expect(staged.states.at(-1)?.lineage).toHaveLength(1);
    expect(staged.started).toEqual(['forge/1']);
  });
});

/** The play that brings a ticket into the phase and keeps it there. */
const HELD: Readonly<Record<string, TicketScript>> = {
  planning: { agent: holdIn('planning') },
  plan_review: { verification: () => 'hang' },
  building: { agent: holdIn('building') },
  segment_review: { verification: ({ parameters }) => (parameters.gate === 'segment' ? 'hang' : null) },
  testing: { verification: ({ scope }) => (scope === 'checks' ? 'hang' : null) },
  review_ready: {
    verification: ({ parameters, scope }) => (parameters.gate === 'merge' && scope === 'review' ? 'hang' : null),
  },
  documenting: { documentation: true, agent: holdIn('documenting') },
  blocked: { gate: () => 'blocked' },
  awaiting_human: { gate: () => 'human_required' },
};

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

describe('[inv-13] a cancel tears everything down', () => {
  test.concurrent.each(Object.keys(HELD))('in %s', async (phase) => {
    await playTicket(theatre, `cancel-${phase}`, HELD[phase] ?? {}, async (staged) => {
      const found = await pollUntil(
        async () => {
          const state = await staged.state();
          const working = !['planning', 'building', 'documenting'].includes(phase) || state.waitingOn !== 'workspace';
          return state.phase === phase && working && state;
        },
        { what: `the ticket in ${phase}`, deadlineMs: 40_000 },
      );
      await staged.handle.cancel();
      const ended = await staged.handle.result().catch((error: unknown) => error);
      expect(ended).toBeInstanceOf(WorkflowFailedError);
      expect(ended instanceof WorkflowFailedError && ended.cause).toBeInstanceOf(CancelledFailure);
      // Recorded as it ended: what has landed stays landed.
      expect(staged.states.at(-1)?.phase).toBe(found.merge?.state === 'landed' ? 'done' : 'abandoned');
      expect(staged.started.filter((run) => !staged.gone.has(run))).toEqual([]);
    });
  });

  test.concurrent('in merging, once the landing has been heard out', async () => {
    const landing = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    const script: TicketScript = {
      land: async () => {
        begun.resolve(undefined);
        await landing.promise;
        return { outcome: 'landed', commit: commit(1), fencing: 1, epoch: null, incident: false };
      },
    };
    await playTicket(theatre, 'cancel-merging', script, async (staged) => {
      await begun.promise;
      await staged.handle.cancel();
      landing.resolve(undefined);
      await staged.handle.result().catch(() => {});
      expect(staged.states.at(-1)).toMatchObject({ phase: 'done', merge: { state: 'landed' } });
      expect(staged.started.filter((run) => !staged.gone.has(run))).toEqual([]);
    });
  });
});

test.concurrent(
  '[inv-04] a workspace lost in segment 2 resumes there in a new execution, and the pass of the old one authorises nothing',
  async () => {
    let lost = false;
    const script: TicketScript = {
      segments: 2,
      agent: async (staged, turn, assignment) => {
        if (assignment.segment?.n !== 2 || lost) return null;
        lost = true;
        await staged.client.workflow.getHandle(turn.run).signal('lose');
        return await holdIn('building')(staged, turn, assignment);
      },
    };
    await playTicket(theatre, 'lost', script, async (staged) => {
      expect((await staged.handle.result()).phase).toBe('done');
      const resumed = staged.states.find(({ execution }) => execution.generation === 2);
      expect(resumed).toMatchObject({ phase: 'building', segment: { n: 2, passed: 1 }, passes: [], candidate: null });
      expect(staged.started).toEqual(['forge/1', 'forge/2']);
      const second = staged.assignments.filter(({ execution }) => execution.generation === 2);
      expect(second[0]).toMatchObject({ segment: { n: 2, of: 2 }, workspaceGeneration: 2 });
      // What is judged from there on is of the new execution.
      const judged = staged.verifications.filter(({ parameters }) => parameters.gate === 'merge');
      expect(judged.every(({ parameters }) => parameters.execution.generation === 2)).toBe(true);
      expect(staged.states.at(-1)?.passes.every((pass) => pass.generation === 2)).toBe(true);
    });
  },
);

test.concurrent(
  'a gate that cannot judge blocks the ticket, its workspace goes, and an operator’s retry judges anew',
  async () => {
    const script: TicketScript = { gate: (_, n) => (n === 1 ? 'blocked' : 'pass') };
    await playTicket(theatre, 'blocked', script, async (staged) => {
      const blocked = await staged.until('blocked');
      expect(blocked).toMatchObject({
        stop: { cause: 'gate_blocked' },
        resumePhase: 'plan_review',
        waitingOn: 'operator',
      });
      await untilGone(staged);
      const { typedSearchAttributes: shown } = await staged.handle.describe();
      expect(shown.get(SEARCH_ATTRIBUTES.waitingOn)).toBe('operator');
      const { revision } = await staged.state();
      const decided = await staged.update('decide', { revision, by: 'c-op', decision: 'retry', reason: 'mended' });
      expect(decided).toMatchObject({ accepted: true, phase: 'plan_review' });
      expect((await staged.handle.result()).phase).toBe('done');
      expect(staged.verifications.filter(({ parameters }) => parameters.gate === 'plan')).toHaveLength(2);
      expect(staged.gone.get('forge/1')).toBe('failed');
    });
  },
);

test.concurrent('[inv-09] a ticket that is abandoned while its workspace is being released ends', async () => {
  await playTicket(theatre, 'abandoned', { gate: () => 'human_required' }, async (staged) => {
    const { revision } = await staged.until('awaiting_human');
    await staged.update('abandon', { revision, by: 'c-op', reason: 'no more' });
    expect((await staged.handle.result()).phase).toBe('abandoned');
  });
});

test.concurrent('[inv-19] an update on another revision is refused by name and leaves no trace', async () => {
  await playTicket(theatre, 'stale', { gate: () => 'human_required' }, async (staged) => {
    const { revision } = await staged.until('awaiting_human');
    const stale = await staged
      .update('decide', { revision: revision - 1, by: 'c-op', decision: 'retry', reason: 'late' })
      .catch((error: unknown) => error);
    expect(codeOfRefusal(stale)).toBe('ticket_stale');
    expect((await staged.state()).revision).toBe(revision);
    const left = await staged.update('abandon', { revision, by: 'c-op', reason: 'no more' });
    expect(left).toMatchObject({ accepted: true, phase: 'abandoned' });
    expect((await staged.handle.result()).phase).toBe('abandoned');
  });
});

test.concurrent(
  '[inv-08] a ticket that continues as new answers an update it had applied before like the first time',
  async () => {
    let answers: unknown[] = [];
    let revision = 0;
    const script: TicketScript = {
      segments: 2,
      historyLimit: 60,
      agent: async (staged, _, assignment) => {
        if (assignment.phase !== 'planning') return null;
        ({ revision } = assignment);
        answers = [await staged.update('submitPlan', { revision, by: 'c-agent', commit: commit(0x77) }, 'plan-1')];
        return { outcome: 'answered', message: '' };
      },
      gate: (_, n) => (n === 4 ? 'human_required' : 'pass'),
    };
    await playTicket(theatre, 'again', script, async (staged) => {
      const waiting = await staged.until('awaiting_human');
      const first = await staged.client.workflow.getHandle(staged.handle.workflowId).describe();
      expect(first.raw.workflowExecutionInfo?.firstRunId).not.toBe(first.runId);
      answers.push(await staged.update('submitPlan', { revision, by: 'c-agent', commit: commit(0x77) }, 'plan-1'));
      expect(answers[1]).toEqual(answers[0]);
      expect((await staged.state()).revision).toBe(waiting.revision);
      await staged.update('abandon', { revision: waiting.revision, by: 'c-op', reason: 'seen' });
      await staged.handle.result();
      expect(staged.started.filter((run) => !staged.gone.has(run))).toEqual([]);
    });
  },
);

test.concurrent('a base that moves while the candidate is landed makes another candidate, judged again', async () => {
  const moved = { outcome: 'base_moved', now: commit(0xba5f) } as const;
  const script: TicketScript = {
    land: (tries) =>
      tries === 1 ? moved : { outcome: 'landed', commit: commit(2), fencing: 2, epoch: null, incident: false },
  };
  await playTicket(theatre, 'moved', script, async (staged) => {
    expect((await staged.handle.result()).phase).toBe('done');
    expect(phases(staged).filter((phase) => phase === 'testing')).toHaveLength(2);
    expect(staged.gates.filter(({ kind }) => kind === 'merge')).toHaveLength(2);
  });
});

test.concurrent(
  '[inv-07] a turn that the end of its workspace breaks off is one loss, and no failure of the agent beside it',
  async () => {
    let ended = 0;
    const script: TicketScript = {
      agent: async (staged, { run }, { segment }) => {
        if (segment === null || ended > 0) return null;
        ended += 1;
        await staged.handle.signal('workspaceEnding', { run });
        // Its last word comes when the turn is long over.
        void untilWaiting(staged).then(() => staged.client.workflow.getHandle(run).signal('lose'));
        return { outcome: 'died', message: '' };
      },
    };
    await playTicket(theatre, 'ending', script, async (staged) => {
      expect((await staged.handle.result()).phase).toBe('done');
      expect(staged.started).toEqual(['forge/1', 'forge/2']);
      expect(staged.states.at(-1)).toMatchObject({ attempts: { providerFailures: 1 }, execution: { generation: 2 } });
    });
  },
);

/** The turn has been answered, and nothing is asked in its place. */
async function untilWaiting(staged: StagedTicket): Promise<void> {
  const turns = async () => {
    const { events } = await staged.handle.fetchHistory();
    return (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes != null).length;
  };
  let before = -1;
  await pollUntil(
    async () => {
      const now = await turns();
      const still = now === before;
      before = now;
      return still;
    },
    { what: 'a ticket that does nothing', everyMs: 300 },
  );
}

test.concurrent('a workspace that never becomes ready is replaced by the next generation', async () => {
  await playTicket(theatre, 'unready', { workspace: (n) => n > 1 }, async (staged) => {
    expect((await staged.handle.result()).phase).toBe('done');
    expect(staged.started).toEqual(['forge/1', 'forge/2']);
    expect(staged.states.at(-1)?.execution.generation).toBe(1);
  });
});

test.concurrent('a second submission of one assignment is stale: the first has moved the ticket on', async () => {
  const refusals: unknown[] = [];
  const script: TicketScript = {
    agent: async (staged, _, assignment) => {
      if (assignment.segment === null) return null;
      await submit(staged, assignment, commit(0x900 + assignment.revision));
      const again = await submit(staged, assignment, commit(0x901)).catch((error: unknown) => error);
      refusals.push(codeOfRefusal(again));
      return { outcome: 'answered', message: '' };
    },
  };
  await playTicket(theatre, 'late', script, async (staged) => {
    expect((await staged.handle.result()).phase).toBe('done');
    expect(refusals).toEqual(['ticket_stale']);
  });
});
