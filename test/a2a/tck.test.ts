/** The mount for the public compatibility suite: that it stands, and that nothing of it is in production paths. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTckMount, type TckMount } from './tck/mount.ts';
import { readReport } from './tck/report.ts';
import { BINDINGS, exchange, field, frames, request, type Operation } from './wire.ts';

let mount: TckMount;
beforeAll(async () => {
  mount = await startTckMount({ PORTCULLIS_A2A_TCK: '1' });
});
afterAll(() => mount.close());

const HEADERS = { 'A2A-Version': '1.0' };

function sendOf(method: 'SendMessage' | 'SendStreamingMessage', messageId: string): Operation {
  const params = { message: { messageId, role: 'ROLE_USER', parts: [{ text: 'x' }] } };
  const path = method === 'SendMessage' ? '/message:send' : '/message:stream';
  return { name: method, http: { method: 'POST', path, body: params }, rpc: { method, params } };
}

test('it starts only where the environment asks for it', async () => {
  await expect(startTckMount({})).rejects.toThrow('PORTCULLIS_A2A_TCK=1');
});

test('no production path knows of it', () => {
  const folders = ['gateway', 'workers', 'activities', 'workflows', 'schemas', 'cli', 'local', 'client', 'bin'];
  const known = execFileSync('git', ['ls-files', '--', ...folders], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const naming = execFileSync('sh', ['-c', 'grep -liE "tck" -- "$@" || true', 'sh', ...known], { encoding: 'utf8' });
  expect(known.length).toBeGreaterThan(100);
  expect(naming).toBe('');
});

test('its card asks for no credential and no extension', async () => {
  const card: unknown = await (await fetch(`${mount.url}/.well-known/agent-card.json`)).json();
  expect(field(card, 'securityRequirements') ?? []).toEqual([]);
  expect(field(field(card, 'capabilities'), 'extensions') ?? []).toEqual([]);
});

describe.each(BINDINGS)('on %s', (binding) => {
  test('a scripted task completes, needs input, is rejected, and answers as a message', async () => {
    const stateOf = async (messageId: string) => {
      const { result } = await exchange(mount.url, binding, sendOf('SendMessage', messageId), HEADERS);
      return field(field(field(result, 'task'), 'status'), 'state') ?? Object.keys(Object(result) as object);
    };
    expect(await stateOf('tck-complete-task-1')).toBe('TASK_STATE_COMPLETED');
    expect(await stateOf('tck-input-required-1')).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(await stateOf('tck-reject-task-1')).toBe('TASK_STATE_REJECTED');
    expect(await stateOf('tck-message-response-1')).toEqual(['message']);
  });

  test('a scripted stream begins with the task and ends with its end', async () => {
    const operation = sendOf('SendStreamingMessage', 'tck-stream-artifact-chunked-1');
    const seen: unknown[] = [];
    for await (const { event } of frames(await request(mount.url, binding, operation, HEADERS))) {
      seen.push(...Object.keys(Object(event) as object));
    }
    expect(seen).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  test('without a version it is 0.3, which is refused', async () => {
    expect((await exchange(mount.url, binding, sendOf('SendMessage', 'x'), {})).code).toBe('version_not_supported');
  });
});

test('a report is read by name: what fails unexpectedly and what no longer fails both tell', () => {
  const xml = `<testsuite>
<testcase classname="tests.compatibility.core.test_a.TestB" name="test_known" time="1"><failure message="x">y</failure></testcase>
<testcase classname="tests.compatibility.core.test_a" name="test_new[1]" time="1"><error message="x" /></testcase>
<testcase classname="tests.compatibility.core.test_a" name="test_well" time="1" />
<testcase classname="tests.compatibility.core.test_a" name="test_not" time="1"><skipped message="x" /></testcase>
</testsuite>`;
  expect(readReport(xml, { 'test_a.TestB.test_known': '', 'test_a.test_gone': '' })).toEqual({
    passed: 1,
    skipped: 1,
    failed: ['test_a.TestB.test_known', 'test_a.test_new[1]'],
    surprising: ['test_a.test_new[1]'],
    mended: ['test_a.test_gone'],
  });
});
