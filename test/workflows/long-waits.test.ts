/** Waits of minutes, on the time-skipping server. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timeSkippingServer } from '../../local/binaries.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../../schemas/search-attributes.ts';
import type { Turn } from '../../schemas/verify/activities.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';
import { pollUntil } from '../support/poll.ts';
import { play, type Theatre } from './stage.ts';
import { bundleTicket, playTicket, type TicketScript } from './ticket-stage.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

let environment: TestWorkflowEnvironment;
let theatre: Theatre;

beforeAll(async () => {
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: timeSkippingServer() } },
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.namespace ?? 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTE_NAMES.map((name) => [name, KEYWORD])),
  });
  theatre = {
    client: environment.client,
    connection: environment.nativeConnection,
    workflowBundle: await bundleWorkflows(),
  };
});
afterAll(() => environment.teardown());

/** How a run ended whose turn never came, and after how many seconds of the workflow's own time. */
async function waitedOut(pair: string, turn: Turn) {
  return await play(theatre, pair, { turns: () => turn }, async ({ handle, endings }) => {
    await handle.result();
    const { startTime, closeTime } = await handle.describe();
    return { result: endings[0]?.result, seconds: ((closeTime?.getTime() ?? 0) - startTime.getTime()) / 1000 };
  });
}

test('[inv-07] a run that stays queued for five minutes ends as unavailable, never as a failure', async () => {
  const { result, seconds } = await waitedOut('stays-queued', { kind: 'queued', place: 1 });
  expect(result).toMatchObject({ status: 'executor_unavailable', satisfied: false });
  expect(result?.reasons).toContain('busy');
  expect(seconds).toBeGreaterThanOrEqual(300);
  expect(seconds).toBeLessThan(310);
});

test('[inv-07] presence that never becomes known is not waited for beyond its bound', async () => {
  const { result, seconds } = await waitedOut('never-settles', { kind: 'settling' });
  expect(result).toMatchObject({ status: 'executor_unavailable' });
  expect(result?.reasons).toContain('presence_unknown');
  expect(seconds).toBeGreaterThanOrEqual(20);
  expect(seconds).toBeLessThan(30);
});

test('an agent that answers and submits nothing is asked again, five times at most, then a person is', async () => {
  const script: TicketScript = { agent: () => Promise.resolve({ outcome: 'answered', message: 'I would rather not' }) };
  await playTicket({ ...theatre, workflowBundle: await bundleTicket() }, 'silent', script, async (staged) => {
    // Not by waiting for its result: a ticket that waits for a person would be waited for until it times out.
    await environment.sleep('5 minutes');
    const stopped = await staged.until('awaiting_human');
    expect(stopped).toMatchObject({ stop: { cause: 'provider_failed' }, resumePhase: 'planning' });
    expect(staged.assignments).toHaveLength(5);
    await staged.update('abandon', { revision: stopped.revision, by: 'c-op', reason: 'seen' });
    expect((await staged.handle.result()).phase).toBe('abandoned');
  });
});

test('[inv-18] a landing on a remote that is away is asked about for half an hour, and then a person is', async () => {
  let away = true;
  let asked = 0;
  const script: TicketScript = {
    land: (_, { candidate }) => {
      asked += 1;
      if (away) throw portcullisError('remote_unavailable', { reason: 'the credential has expired' });
      return { outcome: 'landed', commit: candidate, fencing: 1, epoch: null, incident: false };
    },
  };
  await playTicket({ ...theatre, workflowBundle: await bundleTicket() }, 'away', script, async (staged) => {
    await staged.until('merging');
    await pollUntil(() => Promise.resolve(asked > 0), { what: 'the first attempt to land' });
    await environment.sleep('31 minutes');
    const stopped = await staged.until('awaiting_human');
    expect(asked).toBeGreaterThan(20);
    expect(stopped).toMatchObject({
      ...{ stop: { cause: 'landing_unanswered', detail: 'remote_unavailable' }, merge: { state: 'intended' } },
    });
    const intended = staged.states.find(({ merge }) => merge !== null);
    expect(stopped.since - (intended?.since ?? 0)).toBeLessThanOrEqual(30 * 60_000 + 15_000);
    away = false;
    await staged.update('decide', { revision: stopped.revision, by: 'c-op', decision: 'retry', reason: 'renewed' });
    expect((await staged.handle.result()).phase).toBe('done');
  });
});
