/** Trusted clients of Temporal, ours and one in Python, over the real ticket workflow with scripted activities. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Orchestrator, type TicketReads } from '../../client/orchestrator.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Assignment } from '../../schemas/harness-api.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { pythonWithTemporal } from '../a2a/python/environment.ts';
import { BASE, commit } from '../support/ticket-fixtures.ts';
import {
  bundleTicket,
  playTicket,
  ticketDefinition,
  type TicketScript,
  type TicketTheatre,
} from '../workflows/ticket-stage.ts';

const run = promisify(execFile);
const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'python-client', 'start_ticket.py');
const SOURCE = { importId: null, baseSha: BASE, remote: null } as const;
const WATCHING = { everyMs: 50 };

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

/** Each play has a tenant of its own, and with it a queue. Its gateway reads what the activities recorded. */
function orchestrate(tenant: string) {
  const recorded: TicketState[] = [];
  const record = (state: TicketState) => ({ schema: 'portcullis/ticket-record/v1', seq: 1, title: '', state }) as const;
  const gateway: TicketReads = {
    getTicket(ticket) {
      const state = recorded.at(-1);
      if (state?.ticketId !== ticket)
        return Promise.reject(portcullisError('not_found', { what: 'ticket', id: ticket }));
      return Promise.resolve({ schema: 'portcullis/ticket-view/v1', ticket: record(state) });
    },
    listTickets: () => Promise.resolve({ schema: 'portcullis/ticket-list/v1', items: recorded.slice(-1).map(record) }),
  };
  const orchestrator = new Orchestrator({ temporal: theatre.client, gateway, tenant, by: 'nexus' });
  const start = (definition: TicketDefinition) => orchestrator.startTicket(definition, SOURCE);
  return { orchestrator, entrance: { tenant, start, recorded } };
}

function failing(code: string, details: Record<string, unknown> = {}) {
  return expect.objectContaining({ code, details: expect.objectContaining(details) as unknown }) as Error;
}

/** What FORGE submits, through the orchestrator; twice, as a caller does that lost the first answer. */
async function submitTwice(orchestrator: Orchestrator, ticket: string, assignment: Assignment, at: string) {
  const { phase, revision, segment, head } = assignment;
  const submit = () => {
    if (phase === 'planning') return orchestrator.submitPlan(ticket, { revision, commit: at });
    if (segment !== null) return orchestrator.submitSegment(ticket, { revision, n: segment.n, commit: at });
    return orchestrator.submitReady(ticket, { revision, commit: head });
  };
  const first = await submit();
  expect(await submit()).toEqual(first);
  return first;
}

test.concurrent('an orchestrator takes a ticket from its start to a merged change and sees each phase', async () => {
  const { orchestrator, entrance } = orchestrate('orchestrated');
  let submitted = 0x500;
  const script: TicketScript = {
    entrance,
    agent: async (_, __, assignment) => {
      const { revision } = await submitTwice(orchestrator, 'whole', assignment, commit((submitted += 1)));
      expect(revision).toBeGreaterThan(assignment.revision);
      return { outcome: 'answered', message: 'done' };
    },
  };
  const definition = ticketDefinition('whole', false);
  await playTicket(theatre, 'whole', script, async ({ handle }) => {
    expect(await orchestrator.startTicket(definition, SOURCE)).toMatchObject({ outcome: 'running' });
    const phases: string[] = [];
    for await (const { phase } of orchestrator.watch('whole', WATCHING))
      if (phases.at(-1) !== phase) phases.push(phase);
    expect(phases.at(-1)).toBe('done');
    expect(await handle.result()).toMatchObject({ ticket: 'whole', phase: 'done' });
    const { history, merge } = await orchestrator.getTicket('whole');
    expect(merge?.state).toBe('landed');
    expect(history.some(({ actor }) => actor === 'nexus')).toBe(true);
    expect(await orchestrator.listTickets()).toMatchObject([
      { ticketId: 'whole', phase: 'done', waitingOn: 'nothing' },
    ]);
    await expect(orchestrator.startTicket(definition, SOURCE)).rejects.toEqual(failing('state_conflict'));
    const late = { revision: 1, reason: 'too late' };
    await expect(orchestrator.abandon('whole', late)).rejects.toEqual(failing('not_found'));
  });
});

test.concurrent(
  'a review is answered once, and a stopped ticket goes on or ends by an operator’s decision',
  async () => {
    const { orchestrator, entrance } = orchestrate('decided');
    /** The reviewer answers while it is waited for. */
    const verification: TicketScript['verification'] = async (_, n) => {
      if (n > 1) return null;
      const { review, revision } = await orchestrator.getTicket('decided');
      const answer = { revision, n: review?.n ?? 0, approvalId: 'ap-1', reviewDigest: `sha256:${'7'.repeat(64)}` };
      expect(await orchestrator.approve('decided', answer)).toMatchObject({ phase: 'plan_review' });
      const other = { ...answer, approvalId: 'ap-2' };
      await expect(orchestrator.reject('decided', other)).rejects.toEqual(failing('approval_used'));
      return null;
    };
    const gate: TicketScript['gate'] = (_, n) => (n === 1 ? 'blocked' : 'human_required');
    await playTicket(theatre, 'decided', { entrance, verification, gate }, async (staged) => {
      const { revision: blocked } = await staged.until('blocked');
      const early = { revision: blocked - 1, reason: 'seen too early' };
      await expect(orchestrator.abandon('decided', early)).rejects.toEqual(
        failing('ticket_stale', { current: blocked }),
      );
      const retry = { revision: blocked, decision: 'retry', reason: 'the evidence is there now' } as const;
      const { revision } = await orchestrator.decide('decided', retry);
      expect(revision).toBeGreaterThan(blocked);
      const { revision: waiting } = await staged.until('awaiting_human');
      const resumed = await orchestrator.resume('decided', { revision: waiting, reason: 'it is fine as it is' });
      expect(resumed.phase).not.toBe('awaiting_human');
      const { revision: again } = await staged.until('awaiting_human');
      await orchestrator.abandon('decided', { revision: again, reason: 'no longer wanted' });
      expect(await staged.handle.result()).toMatchObject({ phase: 'abandoned', merged: null });
      expect(staged.states.some(({ review }) => review?.answer?.answer === 'approve')).toBe(true);
    });
  },
);

test.concurrent('what cannot be done is refused by code', async () => {
  const { orchestrator } = orchestrate('refused');
  await expect(orchestrator.getTicket('none')).rejects.toEqual(failing('not_found', { id: 'none' }));
  const abandon = orchestrator.abandon('none', { revision: 1, reason: 'gone' });
  await expect(abandon).rejects.toEqual(failing('not_found'));
  await expect(orchestrator.watch('none').next()).rejects.toEqual(failing('not_found'));
  await expect(orchestrator.watch('none', { signal: AbortSignal.abort() }).next()).rejects.toEqual(
    failing('interrupted'),
  );
  const nameless = { ...ticketDefinition('none', false), title: '' };
  await expect(orchestrator.startTicket(nameless, SOURCE)).rejects.toEqual(
    failing('schema_invalid', { path: 'definition.title' }),
  );
  expect(await orchestrator.listTickets()).toEqual([]);
});

test.concurrent('the Python example starts a ticket with the documented arguments and waits for it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-python-'));
  const python = await pythonWithTemporal();
  const file = join(directory, 'ticket.json');
  let program: Promise<{ readonly stdout: string; readonly stderr: string }> | null = null;
  const start = async (definition: TicketDefinition) => {
    await writeFile(file, JSON.stringify(definition));
    const where = ['--address', inject('temporalAddress'), '--tenant', 'python', '--base-sha', BASE];
    program = run(python, [EXAMPLE, file, ...where], { timeout: 30_000 });
    // What went wrong is told by the awaited one below.
    program.catch(() => {});
  };
  try {
    await playTicket(theatre, 'snake', { entrance: { ...orchestrate('python').entrance, start } }, async () => {
      const ended = await program;
      expect(JSON.parse(ended?.stdout ?? '')).toMatchObject({ ticket: 'snake', phase: 'done' });
      expect(ended?.stderr).toContain('waits for');
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
