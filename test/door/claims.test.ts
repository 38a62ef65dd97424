/** The exchange of a claim code, and what a gateway does with bad input. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { executorQueue } from '../../schemas/queues.ts';
import { WORKSPACE_PATHS, type ClaimGrant } from '../../schemas/workspace-api.ts';
import { callSocket, codeOf, type Answer, type Call } from './socket-call.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';

let stage: DoorStage;
let gateway: RunningGateway;

const call = (path: string, what?: Call): Promise<Answer> => callSocket(gateway.socketPath, path, what);

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  gateway = await stage.gateway({ limits: { firstBytesMs: 700, firstCallMs: 700, headersMs: 700, requestMs: 1_500 } });
});
afterAll(() => stage.close());

async function claimCode(change: Parameters<DoorStage['credential']>[0], expiresAt = Date.now() + 60_000) {
  const code = randomUUID();
  const id = randomUUID();
  const { record } = await stage.credential({ ...change, id: randomUUID() });
  await stage.control.writeCredential(
    { ...record, id },
    {
      codeHex: digestHex(contentDigest(Buffer.from(code))),
      record: { schema: 'portcullis/claim-code/v1', credentialId: id, expiresAt, usedAt: null },
    },
  );
  return { code, id };
}

function exchange(tenant: string, code: string): Promise<Answer> {
  return call(WORKSPACE_PATHS.exchange, { body: JSON.stringify({ tenant, code }) });
}

describe('[inv-15] a claim code', () => {
  test('is exchanged once, for a bearer and what an executor needs to know', async () => {
    const seat = seatOfPair('claims');
    const { code, id } = await claimCode({ pair: seat.pair });
    const first = await exchange('local', code);
    expect(first.status).toBe(200);
    const grant = JSON.parse(first.text) as ClaimGrant;
    expect(grant).toMatchObject({ tenant: 'local', pair: 'claims', role: 'verifier', workspaceGeneration: 1 });
    expect(grant.executor).toMatchObject({ taskQueue: executorQueue(seat), namespace: 'default' });
    expect(grant.bearer).toContain(id);
    const registered = await call(WORKSPACE_PATHS.register, { bearer: grant.bearer, body: '{"bootId":"boot-0001"}' });
    expect(registered.status).toBe(204);
    const again = await exchange('local', code);
    expect([again.status, codeOf(again)]).toEqual([401, 'claim_code_invalid']);
  });

  test('has one winner among many at once', async () => {
    const { code } = await claimCode({ pair: 'claim-race' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange('local', code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test('is refused alike when unknown, expired, revoked, or of another tenant', async () => {
    const expired = await claimCode({ pair: 'claims' }, Date.now() - 1_000);
    const revoked = await claimCode({ pair: 'claims' });
    await stage.control.revokeCredential('local', revoked.id);
    const other = await claimCode({ pair: 'claims' });
    const answers = await Promise.all([
      exchange('local', randomUUID()),
      exchange('local', expired.code),
      exchange('local', revoked.code),
      exchange('acme', other.code),
      exchange('nowhere', other.code),
    ]);
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([401, answers[0].text]);
  });

  test("gives an agent a bearer and no executor's part", async () => {
    const { code } = await claimCode({ pair: 'claims', role: 'sentinel', use: 'agent' });
    const { text } = await exchange('local', code);
    expect(JSON.parse(text)).toMatchObject({ role: 'sentinel', executor: null });
  });
});

describe('[inv-19] bad input', () => {
  test.each([
    ['no JSON', 'nonsense', 400, 'json_malformed'],
    ['a repeated key', '{"tenant":"local","tenant":"acme","code":"0123456789abcdef"}', 400, 'json_repeated_key'],
    ['an unknown key', '{"tenant":"local","code":"0123456789abcdef","role":"forge"}', 400, 'schema_invalid'],
    ['bytes that are no text', Buffer.of(0x7b, 0xff, 0x7d), 400, 'json_not_utf8'],
    ['too much', 'x'.repeat(5_000), 413, 'body_too_large'],
  ])('%s is refused by name', async (_, body, status, code) => {
    const answer = await call(WORKSPACE_PATHS.exchange, { body });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  test('an unknown path is an error of the catalogue, and so is a malformed one', async () => {
    expect(codeOf(await call('/nowhere', { method: 'GET' }))).toBe('not_found');
    expect(codeOf(await call('/v1/executor/tasks/%zz/started', {}))).toBe('schema_invalid');
  });

  test('a connection that says nothing, too little, or half a request is closed', async () => {
    const closes = async (bytes: string) => {
      const socket = connect(gateway.socketPath);
      socket.on('error', () => {});
      socket.resume();
      if (bytes !== '') socket.write(bytes);
      const at = performance.now();
      await new Promise((resolve) => socket.once('close', resolve));
      return performance.now() - at;
    };
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const took = await Promise.all([
      closes(''),
      closes('PRI * HT'),
      closes(`${preface}\0\0\0\x04\0\0\0\0\0`),
      closes('GET /healthz HTTP/1.1\r\nhost: x\r\n'),
      closes('POST /v1/claims/exchange HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'),
    ]);
    expect(Math.max(...took), took.join()).toBeLessThan(8_000);
  });

  test('exchanges over one connection are limited', async () => {
    const statuses = await new Promise<string>((resolve, reject) => {
      const socket = connect(gateway.socketPath);
      let text = '';
      socket.on('error', reject);
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.includes(' 429 ')) resolve(text);
      });
      socket.write('POST /v1/claims/exchange HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}'.repeat(15));
    });
    expect(statuses).toContain('rate_limited');
  });
});
