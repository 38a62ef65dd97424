/** Output that an executor uploads, and runs that an earlier boot of it had started. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { admissionOf, resolvedRequest } from '../support/task-fixtures.ts';
import { callSocket, codeOf, type Answer, type Call } from './socket-call.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';

let stage: DoorStage;
let gateway: RunningGateway;

const call = (path: string, what?: Call): Promise<Answer> => callSocket(gateway.socketPath, path, what);

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  gateway = await stage.gateway();
});
afterAll(() => stage.close());

/** A task of the pair that has been admitted and is open. */
async function openTask(pair: string) {
  const request = resolvedRequest({ pair, executor: 'verifier' });
  const view = await stage.store.viewClaim(
    'local',
    pair,
    admissionOf(request, { nextN: 1, nextSequence: 1, now: 0 }).accepted.requestDigest,
  );
  const admission = admissionOf(request, view);
  expect(await stage.store.admit(admission)).toMatchObject({ kind: 'accepted' });
  return admission.accepted;
}

function put(bearer: string, path: string, body: string | Uint8Array): Promise<Answer> {
  return call(path, { method: 'PUT', bearer, body });
}

describe('output', () => {
  test('is stored and then announced, and the same chunk again changes nothing', async () => {
    const { taskId } = await openTask('chunks');
    const { bearer } = await stage.credential({ pair: 'chunks' });
    const path = WORKSPACE_PATHS.chunk(taskId, 'stdout', 0);
    for (let time = 0; time < 2; time += 1) expect((await put(bearer, path, 'hello')).status).toBe(204);
    expect((await put(bearer, WORKSPACE_PATHS.chunk(taskId, 'stdout', 1), 'world')).status).toBe(204);
    expect(Buffer.from((await stage.store.readChunk('local', taskId, 'stdout', 0)) ?? []).toString()).toBe('hello');
    const events = await stage.store.readEvents('local', taskId, 0, 100);
    const output = events.flatMap(({ event }) =>
      event.type === 'output' ? [[event.stream, event.chunk, event.bytes]] : [],
    );
    expect(output).toEqual([
      ['stdout', 0, 5],
      ['stdout', 1, 5],
    ]);
    const changed = await put(bearer, path, 'other');
    expect([changed.status, codeOf(changed)]).toEqual([409, 'state_conflict']);
  });

  test('[inv-05] of another pair, role or generation is not found, and an agent may send none', async () => {
    const { taskId } = await openTask('chunks-own');
    const path = WORKSPACE_PATHS.chunk(taskId, 'stdout', 0);
    const foreign = [
      await stage.credential({ pair: 'chunks-other' }),
      await stage.credential({ pair: 'chunks-own', role: 'forge' }),
      await stage.credential({ pair: 'chunks-own', workspaceGeneration: 2 }),
      await stage.credential({ pair: 'chunks-own', tenant: 'acme' }),
    ];
    for (const { bearer } of foreign) {
      const answer = await put(bearer, path, 'x');
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    }
    const agent = await stage.credential({ pair: 'chunks-own', use: 'agent', role: 'sentinel' });
    expect((await put(agent.bearer, path, 'x')).status).toBe(403);
    expect((await call(path, { method: 'PUT', body: 'x' })).status).toBe(401);
    expect(await stage.store.readChunk('local', taskId, 'stdout', 0)).toBeNull();
  });

  test('[inv-19] is bounded: chunk, stream, and index', async () => {
    const { taskId } = await openTask('chunks-bounded');
    const { bearer } = await stage.credential({ pair: 'chunks-bounded' });
    const at = (index: number | string) => `/v1/executor/tasks/${taskId}/stdout/${index}`;
    expect(codeOf(await put(bearer, at(0), Buffer.alloc(64 * 1024 + 1)))).toBe('body_too_large');
    expect(codeOf(await put(bearer, at(0), ''))).toBe('schema_invalid');
    expect(codeOf(await put(bearer, at('-1'), 'x'))).toBe('schema_invalid');
    expect(codeOf(await put(bearer, at(99_999), 'x'))).toBe('limit');
    for (let index = 0; index < 16; index += 1) {
      expect((await put(bearer, at(index), Buffer.alloc(64 * 1024))).status).toBe(204);
    }
    expect(codeOf(await put(bearer, at(16), 'x'))).toBe('limit');
  });
});

describe('an executor that comes up', () => {
  test('tells the workflows that an earlier boot had started that they are lost, and no others', async () => {
    const seat = seatOfPair('boots');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const { taskId, workflowId } = await openTask(seat.pair);
    await stage.control.takePlace(seat, workflowId);
    const handle = await stage.temporal.workflow.start<() => Promise<string>>('awaitLoss', {
      taskQueue: stage.workflowQueue,
      workflowId,
    });
    const started = (boot: string, workflow: string) =>
      call(WORKSPACE_PATHS.started(taskId), { bearer, body: JSON.stringify({ bootId: boot, workflowId: workflow }) });
    expect((await started('boot-0001', 'verify/local/boots/other/1')).status).toBe(404);
    expect((await started('boot-0001', workflowId)).status).toBe(204);
    const register = (boot: string) =>
      call(WORKSPACE_PATHS.register, { bearer, body: JSON.stringify({ bootId: boot }) });
    expect((await register('boot-0001')).status).toBe(204);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect((await register('boot-0002')).status).toBe(204);
    await expect(handle.result()).resolves.toBe('lost');
    expect((await register('boot-0003')).status, 'one that has ended is no error').toBe(204);
  });
});
