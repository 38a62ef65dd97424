/** What operators decide, through the gateway: at gates, on tickets under the kill switch, on a landing's incident. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import '../support/quiet.ts';
import { evidenceActivities } from '../../activities/evidence/activities.ts';
import { loadGateDocuments } from '../../activities/evidence/gate-documents.ts';
import { registerPolicies } from '../../activities/evidence/policies.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { evidenceStore } from '../../activities/store/evidence.ts';
import { lifecycleStore } from '../../activities/store/lifecycle.ts';
import { ticketStore } from '../../activities/store/tickets.ts';
import { openLandingIncident } from '../../activities/ticket/incidents.ts';
import { headOf } from '../../activities/ticket/record.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import type { DecideGateRequest } from '../../schemas/operator-api.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_WORKFLOW, type TicketInput } from '../../schemas/ticket/workflow.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import { startGateWorker, type RunningGateWorker } from '../../workers/gate/main.ts';
import { worldOf } from '../support/gate-fixtures.ts';
import { pollUntil } from '../support/poll.ts';
import { after, BASE, cancelled, landedWith, landingUnanswered, TICKETS } from '../support/ticket-fixtures.ts';
import { ticketDefinition } from '../workflows/ticket-stage.ts';
import { openWorld, type World } from './world.ts';

const TENANT = 'a2a-decisions';

let world: World;
let root: string;
let gateWorker: RunningGateWorker;
let connection: StoreConnection;
let operator: GatewayClient;
const actionKey = generateSigningKey();

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-decisions-'));
  world = await openWorld(TENANT);
  connection = await connectStore(world.server.settings('control'));
  await registerPolicies({ evidence: evidenceStore(connection), actionKey }, TENANT, await loadGateDocuments());
  gateWorker = await startGateWorker({
    tenants: [TENANT],
    temporalAddress: inject('temporalAddress'),
    namespace: 'default',
    store: { url: world.server.url, password: world.server.passwords.gate },
    gateKeyFile: join(root, 'gate.pem'),
  });
  operator = world.client(await world.credential({ role: 'operator', use: 'operator' }));
});
afterAll(async () => {
  await gateWorker.close();
  await connection.close();
  await world.close();
  rmSync(root, { recursive: true, force: true });
});

/** A ticket whose workflow goes on from this state, as after continue-as-new. */
async function openTicket(id: string, from: TicketState): Promise<TicketState> {
  const state: TicketState = { ...from, tenant: TENANT, ticketId: id, pairId: id, since: Date.now() };
  const record = { schema: 'portcullis/ticket-record/v1', seq: 1, title: id, state } as const;
  const event = {
    ticket: id,
    role: null,
    workspace: '',
    generation: 0,
    phase: state.phase,
    outcome: 'staged',
    detail: '',
  };
  await ticketStore(connection).writeTicket(TENANT, { record, head: headOf(state), event });
  const input: TicketInput = {
    tenant: TENANT,
    definition: ticketDefinition(id, false),
    source: { importId: null, baseSha: BASE, remote: null },
    by: 'c1',
    carried: { state, seq: 1 },
    historyLimit: null,
  };
  await world.temporal.workflow.start(TICKET_WORKFLOW, {
    workflowId: ticketWorkflowId({ tenant: TENANT, ticket: id }),
    taskQueue: controlQueue(TENANT),
    args: [input],
  });
  return state;
}

async function stateOf(id: string): Promise<TicketState> {
  return (await operator.getTicket(id)).ticket.state;
}

/** On whatever revision it is at by then. */
async function abandon(id: string): Promise<void> {
  await pollUntil(
    async () => {
      const { phase, revision } = await stateOf(id);
      if (phase === 'abandoned') return true;
      await operator.decideTicket(id, { decision: 'abandon', reason: 'seen', revision }).catch(() => {});
      return false;
    },
    { what: `${id} to be abandoned` },
  );
}

function until(id: string, what: string, holds: (state: TicketState) => boolean): Promise<TicketState> {
  return pollUntil(
    async () => {
      const state = await stateOf(id);
      return holds(state) && state;
    },
    { what: `${id} ${what}`, deadlineMs: 40_000 },
  );
}

const failing = (code: string) => expect.objectContaining({ code }) as Error;

/** A plan of high risk that is registered and has no evidence at all, and its ticket before the gate. */
async function judgedPlan(id: string) {
  const { subject } = worldOf('plan', {
    subject: {
      tenant: TENANT,
      missionId: id,
      executionId: 'e1',
      executionGeneration: 1,
      risk: { class: 'high', securityRequirementRevision: 1 },
    },
  });
  const digest = subjectDigest(subject);
  const { review } = TICKETS.planVerified;
  if (review === null) throw new Error('the fixture has no review');
  await world.control.writeHead(TENANT, headOf({ ...TICKETS.planVerified, pairId: id }));
  const needs = {
    evidence: evidenceStore(connection),
    store: world.control,
    actionKey,
    gateKeys: () => Promise.resolve([]),
  };
  await evidenceActivities(needs).registerSubject({ tenant: TENANT, manifest: subject });
  await openTicket(id, { ...TICKETS.planVerified, workspaces: [], review: { ...review, subjectDigest: digest } });
  return digest;
}

describe('a person’s decision at a gate', () => {
  test('[inv-05] is the credential’s, is recorded once, moves nothing, and is read by the evaluation that a retry starts', async () => {
    const id = 'T-person';
    const digest = await judgedPlan(id);
    const held = await until(id, 'stopped at its gate', ({ phase }) => phase === 'blocked');
    expect(held.stop?.cause).toBe('gate_blocked');
    const before = (await operator.showGate(id)).decision.decision;
    expect(before.reasons.map(({ code }) => code)).toContain('human_missing');

    const asked: DecideGateRequest = {
      gate: 'plan',
      subjectDigest: digest,
      decision: 'approve',
      case: null,
      reason: 'read it myself',
      expiresAt: null,
      revision: held.revision,
    };
    const agent = world.client(await world.credential({ role: 'sentinel', use: 'agent', pair: id }));
    await expect(agent.decideGate(id, asked)).rejects.toEqual(failing('not_allowed'));
    const stranger = world.client(await world.credential({ tenant: 'other', role: 'operator', use: 'operator' }));
    await expect(stranger.decideGate(id, asked)).rejects.toEqual(failing('not_found'));
    const claims = { ...asked, principal: { id: 'c-boss', lineage: [] } };
    await expect(operator.decideGate(id, claims)).rejects.toEqual(failing('schema_invalid'));
    await expect(operator.decideGate(id, { ...asked, gate: 'merge' })).rejects.toEqual(failing('ticket_mismatch'));
    await expect(operator.decideGate(id, { ...asked, revision: held.revision - 1 })).rejects.toEqual(
      failing('ticket_stale'),
    );
    const override = { ...asked, decision: 'override', case: 'definition_changed' } as const;
    await expect(operator.decideGate(id, override)).rejects.toEqual(failing('override_refused'));

    const taken = await operator.decideGate(id, asked);
    expect(taken).toMatchObject({ phase: 'blocked', revision: held.revision });
    expect(await operator.decideGate(id, asked)).toEqual(taken);
    await operator.decideTicket(id, { decision: 'retry', reason: 'decided', revision: held.revision });
    await until(id, 'evaluated again', ({ phase, revision }) => phase === 'blocked' && revision > held.revision + 1);
    const { decision, evidence } = await operator.showGate(id);
    expect(decision.decision.subjectDigest).toBe(digest);
    expect(decision.decision.evaluationKey).not.toBe(before.evaluationKey);
    expect(decision.decision.reasons.map(({ code }) => code)).not.toContain('human_missing');
    expect(evidence.filter(({ kind }) => kind === 'human')).toMatchObject([{ detail: 'plan: read it myself' }]);
    await abandon(id);
  });
});

describe('the kill switch', () => {
  test('tells every open ticket; none goes on or starts while it is on', async () => {
    const ids = ['T-killed-1', 'T-killed-2', 'T-killed-3'];
    // Each has a workspace that is ready; asked for a turn, nobody answers, and it is asked again a little later.
    for (const id of ids) await openTicket(id, TICKETS.building);
    const { tickets } = await operator.turnKillSwitch({ on: true, reason: 'incident 7', cancelRunning: false });
    expect(tickets).toBeGreaterThanOrEqual(3);
    try {
      for (const id of ids) {
        const { stop, revision } = await until(id, 'stopped', ({ phase }) => phase === 'blocked');
        expect(stop).toEqual({ cause: 'kill_switch', detail: 'incident 7' });
        const retry = { decision: 'retry', reason: 'too early', revision } as const;
        await expect(operator.decideTicket(id, retry)).rejects.toEqual(failing('kill_switch'));
      }
      const source = { importId: null, baseSha: BASE, remote: null };
      const definition = ticketDefinition('T-late', false);
      await expect(operator.startTicket({ definition, source })).rejects.toEqual(failing('kill_switch'));
    } finally {
      await operator.turnKillSwitch({ on: false, reason: 'over', cancelRunning: false });
    }
    for (const id of ids) {
      const { revision } = await stateOf(id);
      const gone = await operator.decideTicket(id, { decision: 'retry', reason: 'it is off', revision });
      expect(gone.phase).toBe('building');
      await abandon(id);
    }
    // What has ended is on no list: nobody is told.
    const again = await operator.turnKillSwitch({ on: true, reason: 'drill', cancelRunning: false });
    await operator.turnKillSwitch({ on: false, reason: 'over', cancelRunning: false });
    expect(again.tickets).toBe(0);
  });
});

test('[inv-19] a ticket with a check that no gate knows is refused at its start', async () => {
  const definition = ticketDefinition('T-unknown', false);
  const checks = [{ check: 'mocha', argv: ['mocha'], timeoutSeconds: 60 }];
  const source = { importId: null, baseSha: BASE, remote: null };
  await expect(operator.startTicket({ definition: { ...definition, checks }, source })).rejects.toEqual(
    failing('check_unknown'),
  );
});

test('the incident of a landing whose ticket ended without a ruling is closed by an operator, once', async () => {
  const id = 'T-unruled';
  const ended = after(TICKETS.intended, landingUnanswered, cancelled);
  const state: TicketState = { ...ended, tenant: TENANT, ticketId: id, pairId: id };
  const record = { schema: 'portcullis/ticket-record/v1', seq: 1, title: id, state } as const;
  const incident = await openLandingIncident(
    { lifecycle: lifecycleStore(connection), store: world.control, actionKey },
    {
      ...{ tenant: TENANT, ticket: id, run: ticketWorkflowId({ tenant: TENANT, ticket: id }) },
      // The other test has the fixture's candidate.
      ...{ candidate: 'e'.repeat(40), cause: 'unanswered', at: Date.now() },
    },
  );
  const event = { ...{ ticket: id, role: null, workspace: '', generation: 0 }, phase: state.phase, outcome: 'staged' };
  const write = { record, head: headOf(state), event: { ...event, detail: '' } };
  await ticketStore(connection).writeTicket(TENANT, write);
  const close = () => operator.ruleIncident(incident, { ruling: 'close', reason: 'it is not on the branch' });
  expect(await close()).toMatchObject({ incident, taken: true });
  const listed = (await operator.listIncidents()).items.filter(({ ticket }) => ticket === id);
  expect(listed).toMatchObject([{ state: 'closed', ruling: { ruling: 'close', reason: 'it is not on the branch' } }]);
  await expect(close()).rejects.toEqual(failing('state_conflict'));
});

test('the incident of a landing is listed, and the operator’s ruling ends the ticket as what it is: landed', async () => {
  const id = 'T-incident';
  const landed = after(TICKETS.intended, landedWith('landing-1'));
  const candidate = landed.merge?.candidate ?? '';
  const needs = { lifecycle: lifecycleStore(connection), store: world.control, actionKey };
  const of = {
    tenant: TENANT,
    ticket: id,
    run: ticketWorkflowId({ tenant: TENANT, ticket: id }),
    candidate,
    cause: 'authority' as const,
    at: Date.now(),
  };
  const incident = await openLandingIncident(needs, of);
  expect(await openLandingIncident(needs, of)).toBe(incident);
  const stop = { cause: 'landing_incident', detail: incident } as const;
  await openTicket(id, { ...landed, workspaces: [], stop });
  const listed = async () => (await operator.listIncidents()).items.filter(({ ticket }) => ticket === id);
  expect(await listed()).toMatchObject([{ id: incident, kind: 'landing', state: 'open', role: null }]);
  await expect(operator.ruleIncident(incident, { ruling: 'orphan', reason: 'no' })).rejects.toEqual(
    failing('schema_invalid'),
  );
  expect(
    await operator.ruleIncident(incident, { ruling: 'close', reason: 'the policy only got stricter' }),
  ).toMatchObject({ taken: true });
  await until(id, 'ended', ({ phase }) => phase === 'done');
  expect(await listed()).toMatchObject([{ state: 'closed', ruling: { reason: 'the policy only got stricter' } }]);
  await expect(operator.ruleIncident(incident, { ruling: 'close', reason: 'again' })).rejects.toEqual(
    failing('state_conflict'),
  );
});
