/** The operator API end to end, through our client: imports, pairs, tasks, kill switch; and who may not use it. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { OpenPairRequest } from '../../schemas/operator-api.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { pollUntil } from '../support/poll.ts';
import { gate } from './gate.ts';
import { field } from './wire.ts';
import { ask, openWorld, type World } from './world.ts';

let world: World;
let operator: GatewayClient;
let repository: { readonly head: string; readonly bundle: Buffer };

beforeAll(async () => {
  world = await openWorld('a2a-operator');
  operator = world.client(await world.credential({ role: 'operator', use: 'operator' }));
  repository = makeRepository();
});
afterAll(() => world.close());

function makeRepository() {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-bundle-'));
  const git = (...given: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...given], {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    git('init', '-q', '-b', 'main');
    writeFileSync(join(directory, 'a.test.js'), '');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    const file = join(directory, 'out.bundle');
    git('bundle', 'create', file, 'HEAD', 'main');
    return { head: git('rev-parse', 'HEAD'), bundle: readFileSync(file) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function openRequest(pair: string, importId: string | null, code: string): OpenPairRequest {
  return {
    pair,
    importId,
    headSha: repository.head,
    baseSha: null,
    execution: 'e1',
    generation: 1,
    roles: ['forge', 'sentinel', 'verifier'],
    routing: { default: 'verifier', permitted: ['verifier', 'forge'] },
    workspaces: { verifier: { name: `${pair}-1`, generation: 1 } },
    baseBranch: 'main',
    claims: [
      {
        role: 'sentinel',
        use: 'agent',
        workspace: '',
        workspaceGeneration: 0,
        codeDigestHex: createHash('sha256').update(code).digest('hex'),
        lifetimeSecs: 3600,
      },
    ],
  };
}

describe('a pair', () => {
  test('is opened from an uploaded bundle, its claim fetched once, and closed for good', async () => {
    const { importId, bytes } = await operator.importBundle(Readable.from([repository.bundle]));
    expect(bytes).toBe(repository.bundle.length);
    const code = randomBytes(16).toString('hex');
    const opened = await operator.openPair(openRequest('opened', importId, code));
    expect(opened).toMatchObject({
      head: { headSha: repository.head },
      credentials: [{ role: 'sentinel', use: 'agent' }],
    });
    expect(readdirSync(join(world.incomingDir, world.tenant))).toEqual([]);
    expect(await operator.pair('opened')).toMatchObject({ head: opened.head, roles: opened.roles });

    const grant = await operator.exchangeClaim({ tenant: world.tenant, code });
    expect(grant).toMatchObject({ pair: 'opened', role: 'sentinel' });
    await expect(operator.exchangeClaim({ tenant: world.tenant, code })).rejects.toMatchObject({
      code: 'claim_code_invalid',
    });
    const sentinel = operator.as(grant.bearer);
    expect(await sentinel.sendVerify(ask('opened', { argv: ['nothing'] }))).toMatchObject({ state: 'rejected' });

    expect((await operator.closePair('opened')).revoked).toEqual(
      opened.credentials.map(({ credentialId }) => credentialId),
    );
    const refusal = await pollUntil(
      () => sentinel.getTask('x').catch((thrown: unknown) => field(thrown, 'code') === 'unauthenticated' && thrown),
      {
        what: 'the revocation to be read',
      },
    );
    expect(refusal).toMatchObject({ code: 'unauthenticated' });
  });

  test('with a commit that its bundle lacks is refused by name', async () => {
    const { importId } = await operator.importBundle(repository.bundle);
    const request = { ...openRequest('lacking', importId, 'x'), headSha: 'f'.repeat(40) };
    await expect(operator.openPair(request)).rejects.toMatchObject({
      code: expect.stringMatching(/^(repository_invalid|not_found)$/) as string,
    });
    await expect(operator.pair('lacking')).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['an operator’s credential', { role: 'operator', use: 'operator' }],
    ['a code that is no digest', { codeDigestHex: 'abc' }],
    ['a life of no time', { lifetimeSecs: 0 }],
    ['another pair', { pair: 'elsewhere' }],
  ])('[inv-05] makes no claim for %s', async (_what, change) => {
    const request = openRequest('claims', null, 'x');
    const claims = request.claims.map((claim) => ({ ...claim, ...change }));
    await expect(operator.openPair({ ...request, claims } as OpenPairRequest)).rejects.toMatchObject({
      code: 'schema_invalid',
    });
  });
});

describe('imports', () => {
  test('[inv-19] one that is too large leaves nothing, announced or not', async () => {
    const replica = await world.replica({ limits: { bundleBytes: 1000 } });
    const { authorization } = bearerHeaders(await world.credential({ role: 'operator', use: 'operator' }));
    const before = incoming();
    for (const chunked of [false, true]) {
      const body = Buffer.alloc(5_000);
      const response = await fetch(`${replica.url}/v1/operator/imports`, {
        method: 'POST',
        headers: { authorization },
        ...(chunked
          ? { body: Readable.toWeb(Readable.from([body])) as ReadableStream, duplex: 'half' as const }
          : { body }),
      });
      const answer: unknown = await response.json();
      expect({ status: response.status, answer }).toMatchObject({
        status: 413,
        answer: { error: { code: 'bundle_too_large' } },
      });
    }
    expect(incoming()).toEqual(before);
    await replica.close();
  });

  test('[inv-19] one for which the disk has no room is refused by name, before and while it comes', async () => {
    const replica = await world.replica({ limits: { diskReserveBytes: Number.MAX_SAFE_INTEGER } });
    const { authorization } = bearerHeaders(await world.credential({ role: 'operator', use: 'operator' }));
    const before = incoming();
    const response = await fetch(`${replica.url}/v1/operator/imports`, {
      ...{ method: 'POST', headers: { authorization }, body: Buffer.alloc(100) },
    });
    const answer: unknown = await response.json();
    expect({ status: response.status, answer }).toMatchObject({
      ...{ status: 507, answer: { error: { code: 'disk_full' } } },
    });
    expect(incoming()).toEqual(before);
    await replica.close();
  });

  test('one may take longer than other requests, by an operator’s bearer only', async () => {
    const replica = await world.replica({ limits: { requestMs: 300, headersMs: 300 } });
    const slow = async (bearer: string) => {
      const body = Readable.from(
        (async function* () {
          yield repository.bundle.subarray(0, 10);
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          yield repository.bundle.subarray(10);
        })(),
      );
      return await world.client(bearer, replica.url).importBundle(body);
    };
    const bearer = await world.credential({ role: 'operator', use: 'operator' });
    expect(await slow(bearer)).toMatchObject({ bytes: repository.bundle.length });
    await expect(slow(`${bearer}x`)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:unauthenticated|gateway_unavailable)$/) as string,
    });
    await replica.close();
  });

  test('one whose source fails half way leaves nothing, and fails as the source did', async () => {
    const before = incoming();
    const failing = Readable.from(
      (function* () {
        yield repository.bundle.subarray(0, 100);
        throw portcullisError('repository_invalid', { path: 'r', reason: 'an object is missing' });
      })(),
    );
    await expect(operator.importBundle(failing)).rejects.toMatchObject({ code: 'repository_invalid' });
    await pollUntil(() => Promise.resolve(incoming().length === before.length), { what: 'the half to be removed' });
  });

  test('an empty one is refused', async () => {
    await expect(operator.importBundle(Buffer.alloc(0))).rejects.toMatchObject({ code: 'schema_invalid' });
  });

  function incoming(): readonly string[] {
    const directory = join(world.incomingDir, world.tenant);
    return existsSync(directory) ? readdirSync(directory) : [];
  }
});

describe('tasks', () => {
  test('are listed of a pair and of the tenant, shown with request and result, and their output is the stored bytes', async () => {
    const stored = randomBytes(3_000);
    const bearer = await world.pair('listed', async (signed, store) => {
      for (const [index, chunk] of [stored.subarray(0, 2_000), stored.subarray(2_000)].entries()) {
        await store.writeChunk(world.tenant, signed.action.taskId, 'stdout', index, chunk);
      }
      return executorReport();
    });
    const { id } = await world.client(bearer).sendVerify(ask('listed'), { wait: true });
    const ofPair = await operator.listTasks({ pair: 'listed' });
    expect(ofPair.items.map(({ taskId }) => taskId)).toEqual([id]);
    await pollUntil(async () => (await operator.listTasks()).items.some(({ taskId }) => taskId === id), {
      what: 'the task in the list of the tenant',
    });
    expect(await operator.showTask(id)).toMatchObject({
      task: { taskId: id, state: 'completed' },
      request: { taskId: id },
      result: { status: 'completed' },
    });
    expect((await buffer(await operator.taskOutput(id, 'stdout'))).equals(stored)).toBe(true);
    expect(await buffer(await operator.taskOutput(id, 'stderr'))).toHaveLength(0);
    await expect(operator.showTask('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the kill switch', () => {
  test('told to, cancels what runs; and says so', async () => {
    const held = gate();
    const bearer = await world.pair('killed', async () => {
      await held.pass();
      return executorReport();
    });
    const client = world.client(bearer);
    const { id } = await client.sendVerify(ask('killed'));
    await pollUntil(async () => (await client.getTask(id)).metadata.phase === 'running', { what: 'the run' });
    const turned = await operator.turnKillSwitch({ on: true, reason: 'incident 7', cancelRunning: true });
    try {
      expect(turned.active).toMatchObject({ on: true, reason: 'incident 7' });
      await pollUntil(async () => (await client.getTask(id)).state === 'canceled', { what: 'the cancellation' });
      expect(await operator.killSwitch()).toMatchObject({ active: { on: true }, cancelled: null });
      expect((await operator.status()).killSwitch).toMatchObject({ reason: 'incident 7' });
    } finally {
      await operator.turnKillSwitch({ on: false, reason: 'over', cancelRunning: false });
    }
    expect(await operator.killSwitch()).toMatchObject({ active: null });
    await expect(operator.turnKillSwitch({ on: true, reason: ' ', cancelRunning: false })).rejects.toMatchObject({
      code: 'schema_invalid',
    });
  });

  test('of the whole installation is not one tenant’s to turn', async () => {
    await expect(
      operator.turnKillSwitch({ on: true, reason: 'all', cancelRunning: false, scope: 'installation' }),
    ).rejects.toMatchObject({ code: 'not_allowed' });
  });
});

test('the status says what the gateway reaches', async () => {
  expect(await operator.status()).toMatchObject({
    tenant: world.tenant,
    store: { ok: true },
    temporal: { ok: true },
    policy: { id: 'default' },
  });
});

const bearerHeaders = (bearer: string) => ({ authorization: `Bearer ${bearer}` });

describe('[inv-05] every operation is an operator’s', () => {
  const OPERATIONS = [
    ['POST', '/v1/operator/imports'],
    ['POST', '/v1/operator/pairs'],
    ['GET', '/v1/operator/pairs/listed'],
    ['DELETE', '/v1/operator/pairs/listed'],
    ['GET', '/v1/operator/tasks'],
    ['GET', '/v1/operator/tasks/x'],
    ['GET', '/v1/operator/tasks/x/output/stdout'],
    ['GET', '/v1/operator/kill-switch'],
    ['PUT', '/v1/operator/kill-switch'],
    ['GET', '/v1/operator/status'],
    ['GET', '/v1/operator/audit'],
    ['GET', '/v1/operator/events'],
    ['GET', '/v1/operator/evidence/x'],
    ['GET', '/v1/operator/findings/x'],
  ] as const;

  test.each(OPERATIONS)('%s %s', async (method, path) => {
    const sentinel = { role: 'sentinel', use: 'agent', pair: 'listed' } as const;
    const cases = [
      [undefined, 401, 'unauthenticated'],
      [await world.credential({ role: 'operator', use: 'operator', state: 'revoked' }), 401, 'unauthenticated'],
      [await world.credential({ role: 'operator', use: 'operator', expiresAt: 1 }), 401, 'unauthenticated'],
      [await world.credential(sentinel), 403, 'not_allowed'],
      [
        await world.credential({ ...sentinel, role: 'verifier', use: 'executor', workspaceGeneration: 1 }),
        403,
        'not_allowed',
      ],
    ] as const;
    for (const [bearer, status, code] of cases) {
      const response = await fetch(`${world.url}${path}`, {
        method,
        headers: bearer === undefined ? {} : bearerHeaders(bearer),
      });
      const body: unknown = await response.json();
      expect({ status: response.status, code: field(field(body, 'error'), 'code') }).toEqual({ status, code });
    }
  });

  test('an operator of another tenant sees nothing of this one', async () => {
    const other = world.client(await world.credential({ role: 'operator', use: 'operator', tenant: 'other' }));
    await expect(other.pair('listed')).rejects.toMatchObject({ code: 'not_found' });
    const [task] = (await operator.listTasks({ pair: 'listed' })).items;
    await expect(other.showTask(task?.taskId ?? '')).rejects.toMatchObject({ code: 'not_found' });
    await expect(other.taskOutput(task?.taskId ?? '', 'stdout')).rejects.toMatchObject({ code: 'not_found' });
    expect((await other.listTasks({ pair: 'listed' })).items).toEqual([]);
    expect((await other.listTasks()).items).toEqual([]);
  });
});

describe('what was kept', () => {
  test('is read in pages: the newest, or what follows a number', async () => {
    await operator.turnKillSwitch({ on: true, reason: 'a look at the chain', cancelRunning: false });
    await operator.turnKillSwitch({ on: false, reason: 'over', cancelRunning: false });
    const { head, items, unreadable } = await operator.auditPage({ limit: 2 });
    expect(items.map(({ entry }) => [entry.n, entry.event])).toEqual([
      [head.n - 1, 'kill_switch_on'],
      [head.n, 'kill_switch_off'],
    ]);
    expect(unreadable).toEqual([]);
    expect(items.at(-1)?.digest).toBe(head.digest);
    const first = await operator.auditPage({ after: 0, limit: 1 });
    expect(first.items.map(({ entry }) => [entry.n, entry.previous])).toEqual([[1, null]]);
    expect((await operator.auditPage({ after: head.n })).items).toEqual([]);
    expect(await operator.eventPage()).toMatchObject({ lastSeq: 0, fellOff: 0, items: [] });
  });

  test('[inv-19] a record and the findings of a ticket are asked for by name, and what is not there is said so', async () => {
    const absent = (what: string) => ({ code: 'not_found', details: { what } });
    await expect(operator.showEvidence('a'.repeat(64), 'listed')).rejects.toMatchObject(absent('record'));
    await expect(operator.showEvidence('../audit')).rejects.toMatchObject({ code: 'schema_invalid' });
    await expect(operator.ticketFindings('T-nothing')).rejects.toMatchObject(absent('evidence of the ticket'));
    await expect(operator.ticketFindings('a/b')).rejects.toMatchObject({ code: 'schema_invalid' });
  });

  test('[inv-19] a page that cannot be is refused by name', async () => {
    for (const query of [{ limit: 501 }, { limit: 0 }, { after: -1 }, { after: 1e15 }, { after: 0.5 }]) {
      await expect(operator.auditPage(query)).rejects.toMatchObject({ code: 'schema_invalid' });
      await expect(operator.eventPage(query)).rejects.toMatchObject({ code: 'schema_invalid' });
    }
  });
});
