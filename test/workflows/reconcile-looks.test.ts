/** What the reconciler sees through Temporal, on a real server. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { slotsWorkflowId } from '../../schemas/workflow-ids.ts';
import { listRunning, workspaceWorkflows } from '../../workers/control/workspaces.ts';
import { pollUntil } from '../support/poll.ts';
import { openStage, play, type Stage } from './workspace-stage.ts';

const TENANT = 'reconcile-looks';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'), TENANT);
});
afterAll(() => stage.close());

test('what runs is listed by its id for its tenant alone, and is listed no more once it is over', async () => {
  await play(stage, 'looks-listed', {}, async ({ client, start }) => {
    const handle = await start();
    const isListed = async (tenant: string) => (await listRunning(client, tenant)).has(handle.workflowId);
    await pollUntil(() => isListed(TENANT), { what: 'it to be listed', deadlineMs: 45_000, everyMs: 200 });
    expect(await isListed('another')).toBe(false);
    await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
    await handle.result();
    await pollUntil(async () => !(await isListed(TENANT)), { what: 'its end', deadlineMs: 45_000, everyMs: 200 });
  });
});

test('[inv-13] slots that were ended are not asked: they still answer, and the next ones know nothing of it', async () => {
  const { slotsView } = workspaceWorkflows(stage.client);
  expect(await slotsView(TENANT, 'lore')).toBeNull();
  const holder = `workspace/${TENANT}/T/lore/1`;
  await stage.tellSlots('lore', { kind: 'held', holder, capacity: 1 });
  expect(await slotsView(TENANT, 'lore')).toMatchObject({ holders: [{ holder }] });
  await stage.client.workflow.getHandle(slotsWorkflowId({ tenant: TENANT, role: 'lore' })).terminate();
  expect(await slotsView(TENANT, 'lore')).toBeNull();
});
