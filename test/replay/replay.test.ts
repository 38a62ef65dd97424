import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { GOLDEN_PATHS } from '../workflows/golden.ts';
import { CONTROL_PATHS } from '../workflows/golden-control.ts';
import { GATE_PATHS } from '../workflows/golden-gate.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';

const HISTORIES = join(import.meta.dirname, '..', 'histories');
const files = readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  workflowBundle = await bundleWorkflows();
});

function read(file: string): { events: { activityTaskScheduledEventAttributes?: ScheduledActivity }[] } {
  return JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as never;
}

interface ScheduledActivity {
  readonly activityType: { readonly name: string };
  readonly taskQueue: { readonly name: string };
  readonly [option: string]: unknown;
}

test('there is a history for every path that is played', () => {
  const played = [
    ...GOLDEN_PATHS.map(({ name }) => join('verify', `${name}.json`)),
    ...GATE_PATHS.map(({ workflow, name }) => join(workflow, `${name}.json`)),
    ...CONTROL_PATHS.map(({ workflow, name }) => join(workflow, `${name}.json`)),
  ];
  expect(files.toSorted()).toEqual(played.toSorted());
});

test.each(files)('[inv-20] %s replays on the code of today', async (file) => {
  await Worker.runReplayHistory({ workflowBundle, replayName: file }, read(file));
});

test('[inv-20] a history with a step that the code does not take is refused', async () => {
  const history = read(join('verify', 'satisfied.json'));
  const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes !== undefined);
  if (scheduled?.activityTaskScheduledEventAttributes === undefined)
    throw new Error('the history schedules no activity');
  Object.assign(scheduled.activityTaskScheduledEventAttributes.activityType, { name: 'somethingElse' });
  const replaying = Worker.runReplayHistory({ workflowBundle, replayName: 'changed' }, history);
  await expect(replaying).rejects.toBeInstanceOf(DeterminismViolationError);
});
