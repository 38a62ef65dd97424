/** What a workflow that the gateway started waits for, before anybody has taken it: there is no control worker here. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startVerify } from '../../gateway/a2a/start.ts';
import { runControlWorkflow } from '../../gateway/operator/workflows.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { closePairWorkflowId } from '../../schemas/workflow-ids.ts';
import { acceptedRequest } from '../support/verify-fixture.ts';
import { openWorld, type RunningReplica, type World } from './world.ts';

const TENANT = 'a2a-waiting';

let world: World;
let gateway: RunningReplica;

beforeAll(async () => {
  world = await openWorld(TENANT, { controlWorker: false });
  gateway = await world.replica();
});
afterAll(() => world.close());

/** What a workflow shows to wait for; ends it, as nobody else will. */
async function waitingOn(workflowId: string): Promise<string | undefined> {
  const handle = world.temporal.workflow.getHandle(workflowId);
  const { typedSearchAttributes } = await handle.describe();
  await handle.terminate('the test has seen it');
  return typedSearchAttributes.get(SEARCH_ATTRIBUTES.waitingOn);
}

test('[inv-16] a verify that nobody has taken yet waits for control, in the word of the workflow and the documentation', async () => {
  const accepted = acceptedRequest('untaken', { tenant: TENANT });
  expect(await startVerify(gateway.ctx, accepted)).toBe('started');
  expect(await waitingOn(accepted.workflowId)).toBe('control');
});

test("[inv-16] so does an operator's workflow", async () => {
  const workflowId = closePairWorkflowId({ tenant: TENANT, pair: 'untaken' });
  const run = { type: 'closePair', workflowId, tenant: TENANT, pair: 'untaken', input: {}, summary: 'untaken' };
  await expect(runControlWorkflow(gateway.ctx, { ...run, waitMs: 1 })).rejects.toMatchObject({
    code: 'waited_too_long',
  });
  expect(await waitingOn(workflowId)).toBe('control');
});
