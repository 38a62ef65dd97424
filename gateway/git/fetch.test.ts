/** What becomes of a fetch that is not read, or is allowed no more: the real git, a pack that no buffer holds. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { makeBearer } from '../authority/bearer.ts';
import { CredentialCache } from '../authority/credentials.ts';
import { errorMiddleware } from '../http/errors.ts';
import { DEFAULT_LIMITS, type GatewayLimits } from '../limits.ts';
import { gatewayMetrics } from '../metrics.ts';
import { gitRouter } from './router.ts';

const gatewayKey = Buffer.alloc(32, 7);
const PATH = WORKSPACE_PATHS.repository('local', 'T-1');
/** More than two sockets and a pipe hold. */
const LARGE_BYTES = 24 * 1024 * 1024;

let stage: GitStage;
let head: string;
const record: CredentialRecord = {
  ...{ schema: 'portcullis/credential/v1', id: 'c1', tenant: 'local', pair: 'T-1', role: 'sentinel', use: 'agent' },
  ...{ workspace: 'w', workspaceGeneration: 1, execution: 'e1', expiresAt: Date.now() + 3_600_000, state: 'active' },
};

beforeAll(() => {
  stage = openGitStage();
  const source = stage.checkout('source');
  writeFileSync(join(source, 'large'), randomBytes(LARGE_BYTES));
  stage.run(source, 'add', '.');
  stage.run(source, 'commit', '--quiet', '-m', 'large');
  head = stage.run(source, 'rev-parse', 'HEAD');
  stage.own('T-1', source);
});
afterAll(() => stage.close());

/** A gateway's git with one place for the one credential; `revoke` is what control would do. */
async function serve(limits: Partial<GatewayLimits>): Promise<{ readonly port: number; readonly revoke: () => void }> {
  let state: CredentialRecord['state'] = 'active';
  const ctx = {
    keys: {
      ...{ gatewayKey, taskIdKey: gatewayKey, approvalKey: gatewayKey, sealKey: gatewayKey },
      actionPublicKey: { keyId: 'k', pem: generateSigningKey().publicPem },
    },
    credentials: new CredentialCache({
      readCredential: (_, id) => Promise.resolve(id === record.id ? { ...record, state } : { ...record, id }),
      now: () => Promise.resolve(Date.now()),
    }),
    tenants: ['local'],
    repositoriesDir: stage.repositoriesDir,
    limits: { ...DEFAULT_LIMITS, gitPerCredential: 1, gitTotal: 1, ...limits },
    logger: pino({ level: 'silent' }),
    metrics: gatewayMetrics(),
    store: { readKillSwitch: () => Promise.resolve(null), readHead: () => Promise.resolve(null) },
  };
  const app = express();
  app.use(gitRouter(ctx));
  app.use(errorMiddleware(ctx));
  const server: Server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    revoke: () => {
      state = 'revoked';
    },
  };
}

/** Asks for everything and reads none of it but the first of the answer. */
async function fetchUnread(port: number): Promise<Socket> {
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  const body = `${line(`want ${head}\n`)}0000${line('done\n')}`;
  const socket = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const headers = [
    `POST ${PATH}/git-upload-pack HTTP/1.1`,
    'Host: gateway',
    `Authorization: Bearer ${makeBearer(gatewayKey, 'local', record.id)}`,
    'Content-Type: application/x-git-upload-pack-request',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  expect(first.toString('latin1')).toMatch(/^HTTP\/1.1 200 /);
  return socket;
}

/** What somebody else is answered, who needs the same place. */
async function another(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${makeBearer(gatewayKey, 'local', 'c2')}` };
  const answer = await fetch(`http://127.0.0.1:${port}${PATH}/info/refs?service=git-upload-pack`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe('[inv-19] a fetch that nobody reads', () => {
  test('gives its place back a little after git had its time, and looks cut', async () => {
    const { port } = await serve({ gitSeconds: 1, gitReadOnMs: 100 });
    const socket = await fetchUnread(port);
    await expect.poll(() => another(port), { timeout: 15_000, interval: 200 }).toBe(200);
    let text = '';
    socket.on('data', (part: Buffer) => (text = (text + part.toString('latin1')).slice(-16)));
    socket.resume();
    await once(socket, 'close');
    expect(text).not.toContain('0\r\n\r\n');
  });

  test('gives it back when its credential is revoked', async () => {
    const { port, revoke } = await serve({ gitLookMs: 100 });
    await fetchUnread(port);
    expect(await another(port)).toBe(429);
    revoke();
    await expect.poll(() => another(port), { timeout: 15_000, interval: 200 }).toBe(200);
  });
});
