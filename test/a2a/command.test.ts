/** `portcullis task …` and `kill-switch …` against a real gateway: what they print, and the code they end with. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import { createContext, type CliContext } from '../../cli/context.ts';
import { showKillSwitch, turnKillSwitch } from '../../cli/kill-switch/turn.ts';
import { createOutput } from '../../cli/output.ts';
import { listTasks } from '../../cli/task/list.ts';
import { printOutput, showTask } from '../../cli/task/show.ts';
import { cancelTask, watchTask } from '../../cli/task/watch.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { gate } from './gate.ts';
import { moveableProxy } from './moveable-proxy.ts';
import { ask, openWorld, type World } from './world.ts';

let world: World;
let directory = '';
let credentialFile = '';

beforeAll(async () => {
  world = await openWorld('a2a-command');
  directory = await mkdtemp(join(tmpdir(), 'portcullis-command-'));
  credentialFile = join(directory, 'operator');
  await writeFile(credentialFile, await world.credential({ role: 'operator', use: 'operator' }), { mode: 0o600 });
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await world.close();
});

interface Ran {
  readonly exit: number;
  readonly printed: string;
  readonly objects: readonly Record<string, unknown>[];
}

/** Runs a command's work as the program does: with its settings, its output captured, its errors as exit codes. */
async function run(
  work: (context: CliContext) => Promise<number>,
  options: { readonly url?: string; readonly tenant?: string; readonly json?: boolean } = {},
): Promise<Ran> {
  const { url = world.url, tenant, json = true } = options;
  const stdout: Buffer[] = [];
  const output = createOutput(
    { json, debug: false, color: false },
    { stdout: { write: (chunk) => stdout.push(Buffer.from(chunk)) }, stderr: { write: () => {} } },
  );
  const flags = {
    stateDir: directory,
    credential: credentialFile,
    gateway: url,
    ...(tenant === undefined ? {} : { tenant }),
  };
  const context = createContext(flags, {}, new AbortController().signal, output);
  let exit: number;
  try {
    exit = await work(context);
  } catch (thrown) {
    exit = output.error(thrown);
  }
  const printed = Buffer.concat(stdout).toString('utf8');
  const lines = json ? printed.split('\n').filter((line) => line !== '') : [];
  return { exit, printed, objects: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('task', () => {
  test('list, show and show --stdout print what is stored, as objects and for people', async () => {
    const bearer = await world.pair('shown', async ({ action }, store) => {
      await store.writeChunk(world.tenant, action.taskId, 'stdout', 0, Buffer.from('ok 1\n'));
      return executorReport();
    });
    const { id } = await world.client(bearer).sendVerify(ask('shown'), { wait: true });
    const listed = await run((context) => listTasks(context, { pair: 'shown', limit: 20 }));
    expect(listed).toMatchObject({
      exit: 0,
      objects: [{ schema: 'portcullis/v1', kind: 'TaskList', items: [{ taskId: id, state: 'completed' }] }],
    });
    expect(await run((context) => showTask(context, id))).toMatchObject({
      exit: 0,
      objects: [{ kind: 'Task', task: { taskId: id }, request: { taskId: id }, result: { status: 'completed' } }],
    });
    expect(await run((context) => printOutput(context, id, 'stdout'))).toMatchObject({
      exit: 0,
      objects: [{ kind: 'TaskOutput', task: id, stream: 'stdout', bytes: 5, base64: 'b2sgMQo=' }],
    });
    const raw = await run((context) => printOutput(context, id, 'stdout'), { json: false });
    expect(raw).toMatchObject({ exit: 0, printed: 'ok 1\n' });
    expect((await run((context) => showTask(context, id), { json: false })).printed).toContain('satisfied');
  });

  test('a task that policy refused is shown by its id, and watching it ends with the code of the refusal', async () => {
    const client = world.client(await world.pair('refused'));
    const { id } = await client.sendVerify(ask('refused', { argv: ['rm', '-rf', '/'] }));
    expect(await run((context) => showTask(context, id))).toMatchObject({
      exit: 0,
      objects: [{ kind: 'Task', task: { taskId: id, state: 'rejected', pair: 'refused' }, result: null }],
    });
    expect((await run((context) => watchTask(context, id))).exit).toBe(3);
  });

  test.each([
    ['show', (context: CliContext) => showTask(context, 'nothing')],
    ['show --stdout', (context: CliContext) => printOutput(context, 'nothing', 'stdout')],
    ['watch', (context: CliContext) => watchTask(context, 'nothing')],
    ['cancel', (context: CliContext) => cancelTask(context, 'nothing')],
  ])('%s of a task that is not there ends with 6', async (_verb, work) => {
    expect(await run(work)).toMatchObject({ exit: 6, objects: [{ kind: 'Error', code: 'not_found' }] });
  });

  test('watch goes on by itself when its gateway goes away, loses and repeats nothing, and ends as the task does', async () => {
    const held = gate();
    const bearer = await world.pair('watched', async ({ action }, store) => {
      const append = (offset: number) =>
        store.appendEvent(world.tenant, action.taskId, { source: 'stdout', offset }, output(offset));
      for (let offset = 0; offset < 5; offset += 1) await append(offset);
      await held.pass();
      for (let offset = 5; offset < 10; offset += 1) await append(offset);
      return executorReport();
    });
    const client = world.client(bearer);
    const { id } = await client.sendVerify(ask('watched'));
    const replica = await world.replica();
    const proxy = await moveableProxy(replica.url);
    const watching = run((context) => watchTask(context, id), { url: proxy.url });
    await pollUntil(() => proxy.connections() > 0, { what: 'the watch to connect' });
    proxy.moveTo(world.url);
    await replica.close();
    held.open();
    const { exit, objects } = await watching;
    await proxy.close();
    expect(exit).toBe(0);
    expect(objects.at(-1)).toMatchObject({ kind: 'VerifyResult', satisfied: true });
    const numbers = objects.filter(({ kind }) => kind === 'TaskEvent').map(({ seq }) => Number(seq));
    const { seq } = (await client.getTask(id)).metadata;
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => seq - numbers.length + 1 + n));
    expect(numbers.length).toBeGreaterThanOrEqual(6);
  });

  test('cancel answers where the task stands; the watch of a cancelled one ends with 5', async () => {
    const held = gate();
    const bearer = await world.pair('cancelled', async () => {
      await held.pass();
      return executorReport();
    });
    const client = world.client(bearer);
    const { id } = await client.sendVerify(ask('cancelled'));
    await pollUntil(async () => (await client.getTask(id)).metadata.phase === 'running', { what: 'the run' });
    const cancelled = await run((context) => cancelTask(context, id));
    expect(cancelled).toMatchObject({ exit: 0, objects: [{ kind: 'TaskState', task: id }] });
    held.open();
    const watched = await run((context) => watchTask(context, id));
    expect(watched.exit).toBe(5);
    expect(watched.objects.at(-1)).toMatchObject({ kind: 'VerifyResult', status: 'cancelled' });
  });
});

describe('kill-switch', () => {
  const turn = (on: boolean, reason: string) => (context: CliContext) =>
    turnKillSwitch(context, { on, reason, cancelRunning: false, scope: 'tenant' });

  test('on refuses requests with its reason, status says so, off takes them again', async () => {
    const client = world.client(await world.pair('switched'));
    expect(await run(turn(true, 'incident 7'))).toMatchObject({
      exit: 0,
      objects: [{ kind: 'KillSwitch', tenant: world.tenant, on: true, reason: 'incident 7', cancelled: 0 }],
    });
    try {
      expect(await client.sendVerify(ask('switched'))).toMatchObject({
        state: 'rejected',
        metadata: { refusal: 'kill_switch' },
      });
      const status = await run(showKillSwitch, { json: false });
      expect(status).toMatchObject({ exit: 0, printed: expect.stringContaining('incident 7') as string });
    } finally {
      expect((await run(turn(false, 'over'))).objects).toMatchObject([{ on: false, reason: null, by: null }]);
    }
    expect(await client.sendVerify(ask('switched'), { wait: true })).toMatchObject({ state: 'completed' });
  });

  test('without a reason, and of a tenant that is not the credential’s, it turns nothing', async () => {
    expect((await run(turn(true, '  '))).exit).toBe(2);
    expect((await run(turn(true, 'theirs'), { tenant: 'other' })).exit).toBe(7);
    expect((await run(showKillSwitch)).objects).toMatchObject([{ on: false }]);
  });
});

function output(chunk: number) {
  return { type: 'output', stream: 'stdout', chunk, bytes: 1 } as const;
}
