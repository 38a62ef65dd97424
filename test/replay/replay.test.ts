import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DeterminismViolationError } from '@temporalio/workflow';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { replayAll } from '../../cli/replay/replay-all.ts';
import { goldenNames, HISTORIES } from '../workflows/golden-files.ts';
import { machineTraces } from '../workflows/history-file.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';

const names = readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

let workflowBundle: WorkflowBundleWithSourceMap;
/** What the replay of each came to; `null` when it is fine. */
const replayed = new Map<string, Error | null>();

beforeAll(async () => {
  workflowBundle = await bundleWorkflows();
  // One worker for all of them: each of its own would take longer than what it replays.
  const histories = names.map((name) => ({ name, history: historyFromJSON(read(name)) }));
  for await (const { name, error } of replayAll(workflowBundle, histories)) replayed.set(name, error);
}, 120_000);

interface Recorded {
  readonly events: readonly { readonly activityTaskScheduledEventAttributes?: ScheduledActivity }[];
}

interface ScheduledActivity {
  readonly activityType: { readonly name: string };
}

function read(name: string): Recorded {
  return JSON.parse(readFileSync(join(HISTORIES, `${name}.json`), 'utf8')) as Recorded;
}

test('there is a history for every path that is played', () => {
  expect(names.toSorted()).toEqual(goldenNames().toSorted());
});

test.each(names)('[inv-20] %s replays on the code of today', (name) => {
  expect(replayed.get(name)).toBeNull();
});

test.each(names)('[inv-15] %s holds no secret, and nothing of the machine that recorded it', (name) => {
  expect(machineTraces(read(name))).toEqual([]);
});

describe('[inv-20] a history with a step that the code does not take is refused', () => {
  test.each([
    'verify/satisfied',
    'ticket/merged-after-rework',
    'ticket/carried',
    'workspace/gone-after-release',
    'verification/approved',
  ])('%s', async (name) => {
    const history = read(name);
    const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes !== undefined);
    const attributes = scheduled?.activityTaskScheduledEventAttributes;
    if (attributes === undefined) throw new Error('the history schedules no activity');
    Object.assign(attributes.activityType, { name: 'somethingElse' });
    expect.assertions(1);
    for await (const { error } of replayAll(workflowBundle, [{ name, history: historyFromJSON(history) }])) {
      expect(error).toBeInstanceOf(DeterminismViolationError);
    }
  });
});

test('what names a machine or a secret is seen in a payload too', () => {
  const payload = (text: string) => ({ payloads: [{ data: Buffer.from(text).toString('base64') }] });
  expect(machineTraces(payload('{"path":"/home/somebody/project"}'))).toEqual(['/home/somebody']);
  expect(machineTraces({ message: 'a file:///tmp/x is not there' })).toEqual(['/tmp/x']);
  expect(machineTraces(payload('-----BEGIN PRIVATE KEY-----'))).toEqual(['-----BEGIN PRIVATE KEY']);
  expect(machineTraces(payload('{"run":"workspace/golden/T-1/forge/1","ref":"refs/heads/main"}'))).toEqual([]);
});
