/** Pushes over HTTP by real git and by hand, onto a real repository; the store is what a test sets. */
import { execFile, type ExecFileException } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { branchRef } from '../../schemas/git/refs.ts';
import type { KillSwitch } from '../../schemas/pair.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { makeBearer } from '../authority/bearer.ts';
import { CredentialCache } from '../authority/credentials.ts';
import { errorMiddleware } from '../http/errors.ts';
import { DEFAULT_LIMITS, type GatewayLimits } from '../limits.ts';
import { gatewayMetrics } from '../metrics.ts';
import { pushConfig, type GitContext } from './access.ts';
import { runGitBackend } from './cgi.ts';
import { gitRouter } from './router.ts';

const gatewayKey = Buffer.alloc(32, 7);
const credentials = new Map<string, CredentialRecord>();
const state = { killSwitch: null as KillSwitch | null, execution: 'e1', away: false };
const BRANCH = 'portcullis/T-1';

let stage: GitStage;
let seed: { readonly source: string; readonly own: string };
let base: string;
const servers: Server[] = [];
let url: string;
/** Of the test's own: the producer's checkout and the control plane's repository. */
let checkout: string;
let own: string;

async function serve(limits: Partial<GatewayLimits> = {}): Promise<string> {
  const source = {
    readCredential: (_: string, id: string) => Promise.resolve(credentials.get(id) ?? null),
    now: () => Promise.resolve(Date.now()),
  };
  const ctx: GitContext = {
    keys: {
      ...{ gatewayKey, taskIdKey: gatewayKey, approvalKey: gatewayKey, sealKey: gatewayKey },
      actionPublicKey: { keyId: 'k', pem: generateSigningKey().publicPem },
    },
    credentials: new CredentialCache(source),
    tenants: ['local'],
    repositoriesDir: stage.repositoriesDir,
    limits: { ...DEFAULT_LIMITS, ...limits },
    logger: pino({ level: 'silent' }),
    metrics: gatewayMetrics(),
    store: {
      readKillSwitch: () =>
        state.away
          ? Promise.reject(portcullisError('store_unavailable', { reason: 'test' }))
          : Promise.resolve(state.killSwitch),
      readHead: (_, pair) =>
        Promise.resolve({
          ...{
            schema: 'portcullis/pair-head/v1',
            pair,
            headSha: base,
            baseSha: null,
            execution: state.execution,
            generation: 1,
          },
        }),
    },
  };
  const app = express();
  app.use(gitRouter(ctx));
  app.use(errorMiddleware(ctx));
  const server = createServer(app);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  stage = openGitStage();
  const source = stage.checkout('source');
  base = stage.run(source, 'rev-parse', 'HEAD');
  stage.run(source, 'checkout', '--quiet', '-b', BRANCH);
  seed = { source, own: stage.own('seed', source) };
  stage.run(seed.own, 'update-ref', 'refs/portcullis/reviews/T-1', base);
  stage.run(seed.own, 'update-ref', 'refs/portcullis/candidates/x', base);
  url = await serve();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  stage.close();
});

let pair = '';
let count = 0;
beforeEach(() => {
  Object.assign(state, { killSwitch: null, execution: 'e1', away: false });
  count += 1;
  pair = `T-${count}`;
  checkout = mkdtempSync(join(stage.root, 'checkout-'));
  cpSync(seed.source, checkout, { recursive: true });
  own = join(stage.repositoriesDir, 'local', `${pair}.git`);
  cpSync(seed.own, own, { recursive: true });
});

function bearerOf(role: CredentialRecord['role'], over: Partial<CredentialRecord> = {}): string {
  const id = `c-${credentials.size}`;
  credentials.set(id, {
    ...{ schema: 'portcullis/credential/v1', id, tenant: 'local', pair, role, use: 'agent', workspace: 'w' },
    ...{ workspaceGeneration: 1, execution: 'e1', expiresAt: Date.now() + 3_600_000, state: 'active' },
    ...over,
  });
  return makeBearer(gatewayKey, 'local', id);
}

const forge = () => bearerOf('forge');
const branch = () => `portcullis/${pair}`;

interface Outcome {
  readonly ok: boolean;
  readonly said: string;
}

/** git with a bearer, in the producer's checkout. */
async function git(bearer: string, args: readonly string[], at = url, cwd = checkout): Promise<Outcome> {
  const header = ['-c', `http.extraHeader=Authorization: Bearer ${bearer}`, '-c', 'http.postBuffer=65536'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: stage.root, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' };
  const [verb = '', ...rest] = args;
  return await new Promise((resolve) => {
    const remote = `${at}${WORKSPACE_PATHS.repository('local', pair)}`;
    const done = (error: ExecFileException | null, _: string, stderr: string) =>
      resolve({ ok: error === null, said: stderr });
    execFile('git', [...header, verb, remote, ...rest], { cwd, env, encoding: 'utf8' }, done);
  });
}

const push = (bearer: string, ...specs: string[]) => git(bearer, ['push', ...specs]);
const at = (ref: string) => {
  try {
    return stage.run(own, 'rev-parse', '--verify', '--quiet', ref);
  } catch {
    return null;
  }
};

/** Everything that a refused push must leave as it was. */
function contents(): string {
  return JSON.stringify([
    stage.run(own, 'show-ref'),
    readdirSync(join(own, 'objects')).toSorted(),
    readdirSync(join(own, 'objects', 'pack')).toSorted(),
  ]);
}

const packet = (text: string) => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;

/** A push by hand, past the checks of git's own client. */
async function rawPush(bearer: string, lines: readonly string[], pack: Buffer = Buffer.alloc(0), to = url) {
  const body = Buffer.concat([Buffer.from(`${lines.map(packet).join('')}0000`), pack]);
  const response = await fetch(`${to}${WORKSPACE_PATHS.repository('local', pair)}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/x-git-receive-pack-request' },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** A pack of everything that the commit adds to the base. */
async function packOf(...commits: string[]): Promise<Buffer> {
  const child = execFile('git', ['pack-objects', '--stdout', '--revs', '-q'], { cwd: checkout, encoding: 'buffer' });
  const parts: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => parts.push(part));
  child.stdin?.end(`${commits.join('\n')}\n`);
  await once(child, 'close');
  return Buffer.concat(parts);
}

describe('a producer', () => {
  test('pushes its branch, new and then further, and everybody of the pair reads it', async () => {
    const first = stage.commit(checkout, { 'b.txt': 'b' });
    expect(await push(forge(), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: true });
    expect(at(branchRef(branch()))).toBe(first);
    const second = stage.commit(checkout, { 'b.txt': 'bb' });
    expect(await push(forge(), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: true });
    expect(at(branchRef(branch()))).toBe(second);
    for (const reader of [bearerOf('sentinel'), bearerOf('lore'), bearerOf('verifier', { use: 'executor' })]) {
      const target = mkdtempSync(join(stage.root, 'reader-'));
      stage.run(target, 'init', '--quiet', '--bare');
      expect(await git(reader, ['fetch', second], url, target)).toMatchObject({ ok: true });
    }
  });

  test('pushes a file larger than one buffer, as git sends it in pieces', async () => {
    const head = stage.commit(checkout, { 'big.bin': Array.from({ length: 40_000 }, (_, n) => n * n).join() });
    expect(await push(forge(), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: true });
    expect(at(branchRef(branch()))).toBe(head);
  });

  test('LORE pushes its docs branch and not the work branch', async () => {
    const head = stage.commit(checkout, { 'docs/a.md': 'a' });
    expect(await push(bearerOf('lore'), `HEAD:refs/heads/portcullis-docs/${pair}`)).toMatchObject({ ok: true });
    expect(at(branchRef(`portcullis-docs/${pair}`))).toBe(head);
    expect(await push(bearerOf('lore'), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: false });
  });
});

describe('[inv-05] a producer is told no, and nothing changes,', () => {
  test.each([
    ['on the base branch', 'HEAD:refs/heads/main'],
    ["on another pair's branch", 'HEAD:refs/heads/portcullis/T-0'],
    ["on the control plane's refs", 'HEAD:refs/portcullis/reviews/T-1'],
    ['with a tag', 'HEAD:refs/tags/v1'],
    ['with a replacement object', `HEAD:refs/replace/${'a'.repeat(40)}`],
    ['when it deletes the base branch', ':refs/heads/main'],
  ])('%s', async (_, spec) => {
    stage.commit(checkout, { 'b.txt': 'b' });
    const before = contents();
    const outcome = await push(forge(), spec);
    expect(outcome.ok).toBe(false);
    expect(outcome.said).toContain(`this credential pushes refs/heads/${branch()}`);
    expect(contents()).toBe(before);
  });

  test('when it moves its branch aside or deletes it', async () => {
    stage.commit(checkout, { 'b.txt': 'b' });
    await push(forge(), `HEAD:refs/heads/${branch()}`);
    const before = at(branchRef(branch()));
    stage.run(checkout, 'reset', '--quiet', '--hard', base);
    stage.commit(checkout, { 'b.txt': 'other' });
    expect(await push(forge(), `+HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: false });
    expect(await push(forge(), `:refs/heads/${branch()}`)).toMatchObject({ ok: false });
    expect(at(branchRef(branch()))).toBe(before);
  });

  test('with two refs at once, one of which is its own', async () => {
    stage.commit(checkout, { 'b.txt': 'b' });
    const before = contents();
    expect(await push(forge(), `HEAD:refs/heads/${branch()}`, 'HEAD:refs/heads/main')).toMatchObject({ ok: false });
    expect(contents()).toBe(before);
  });

  test('by hand, past its own client', async () => {
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const pack = await packOf(head, `^${base}`);
    const before = contents();
    for (const ref of [
      'refs/heads/main',
      'HEAD',
      `refs/heads/${branch()}/../main`,
      'refs/heads/main\0',
      'refs/heads/',
    ]) {
      const { status, text } = await rawPush(forge(), [`${base} ${head} ${ref}\0report-status`], pack);
      expect(status === 400 || text.includes('ng '), `${ref}: ${status} ${text}`).toBe(true);
    }
    expect(contents()).toBe(before);
  });

  test('by git itself, should our own reading of the commands ever differ from its', async () => {
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const pack = await packOf(head, `^${base}`);
    const before = contents();
    for (const ref of ['refs/heads/main', 'refs/tags/v1', 'refs/portcullis/reviews/T-1']) {
      const body = Buffer.concat([
        Buffer.from(`${packet(`${at(ref) ?? '0'.repeat(40)} ${head} ${ref}\0report-status`)}0000`),
        pack,
      ]);
      const answer = await runGitBackend({
        ...{ repository: own, leaf: '/git-receive-pack', method: 'POST', query: '', protocol: '', body, seconds: 20 },
        contentType: 'application/x-git-receive-pack-request',
        config: pushConfig(`refs/heads/${branch()}`, DEFAULT_LIMITS),
        ...{ memoryKib: null, lastWord: null },
      });
      const parts = [answer.head];
      for await (const part of answer.rest) parts.push(Buffer.from(part));
      expect(Buffer.concat(parts).toString()).toContain(`ng ${ref} deny updating a hidden ref`);
    }
    expect(contents()).toBe(before);
  });
});

describe('[inv-05] no push is taken', () => {
  test.each<[string, () => string]>([
    ['of SENTINEL', () => bearerOf('sentinel')],
    ['of VESSEL', () => bearerOf('vessel')],
    ["of FORGE's executor", () => bearerOf('forge', { use: 'executor' })],
    ['of an operator', () => bearerOf('operator', { use: 'operator', pair: '' })],
    ["of another pair's FORGE", () => bearerOf('forge', { pair: 'T-0' })],
    ['of a revoked credential', () => bearerOf('forge', { state: 'revoked' })],
    ['of an expired credential', () => bearerOf('forge', { expiresAt: 1 })],
    ['of nobody', () => 'pc1.local.x.y'],
  ])('%s', async (_, bearer) => {
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const who = bearer();
    const before = contents();
    const raw = await rawPush(
      who,
      [`${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status`],
      await packOf(head),
    );
    expect(raw.status).toBeGreaterThanOrEqual(401);
    expect(contents()).toBe(before);
  });

  test('under a kill switch, nor while it cannot be read', async () => {
    stage.commit(checkout, { 'b.txt': 'b' });
    const who = forge();
    const before = contents();
    state.killSwitch = { schema: 'portcullis/kill-switch/v1', on: true, reason: 'stop', by: 'o', at: 1 };
    expect(await push(who, `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: false });
    Object.assign(state, { killSwitch: null, away: true });
    expect(await push(who, `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: false });
    expect((await rawPush(who, [])).status).toBe(503);
    expect(contents()).toBe(before);
  });

  test('[inv-04] of an execution that has ended', async () => {
    stage.commit(checkout, { 'b.txt': 'b' });
    state.execution = 'e2';
    expect(await push(forge(), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: false });
    expect(await push(bearerOf('forge', { execution: 'e2' }), `HEAD:refs/heads/${branch()}`)).toMatchObject({
      ok: true,
    });
  });
});

describe('a push whose pack is long on its way', () => {
  /** The body stands still before its last bytes while `meanwhile` happens. */
  async function slowPush(bearer: string, meanwhile: () => void) {
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const pack = await packOf(head, `^${base}`);
    const line = `${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status side-band-64k`;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const path = `${WORKSPACE_PATHS.repository('local', pair)}/git-receive-pack`;
    const headers = {
      ...{ authorization: `Bearer ${bearer}`, 'content-type': 'application/x-git-receive-pack-request' },
    };
    const answered = fetch(`${url}${path}`, { method: 'POST', headers, body: readable, duplex: 'half' });
    const writer = writable.getWriter();
    await writer.write(Buffer.concat([Buffer.from(`${packet(line)}0000`), pack.subarray(0, -20)]));
    // A quarantine is there: git has begun, and the authority was read.
    await expect.poll(() => readdirSync(join(own, 'objects')).join(), { timeout: 10_000 }).toContain('incoming');
    meanwhile();
    await writer.write(pack.subarray(-20));
    await writer.close();
    return { head, text: await (await answered).text() };
  }

  test('moves the branch when what allowed it still stands', async () => {
    const { head, text } = await slowPush(forge(), () => {});
    expect(text).toContain(`ok refs/heads/${branch()}`);
    expect(at(branchRef(branch()))).toBe(head);
  });

  test.each<[string, string, (bearer: string) => void]>([
    ['[inv-04] its execution ends', 'not_allowed', () => (state.execution = 'e2')],
    [
      'the kill switch goes on',
      'kill_switch',
      () => (state.killSwitch = { schema: 'portcullis/kill-switch/v1', on: true, reason: 'stop', by: 'o', at: 1 }),
    ],
    ['the store goes away', 'store_unavailable', () => (state.away = true)],
  ])('changes nothing when meanwhile %s', async (_, code, meanwhile) => {
    const before = contents();
    const who = forge();
    const { text } = await slowPush(who, () => meanwhile(who));
    expect(text).toContain(code);
    expect(text).toContain(`ng refs/heads/${branch()} pre-receive hook declined`);
    expect(contents()).toBe(before);
  });
});

describe('[inv-19] many pushes', () => {
  const packs = () => readdirSync(join(own, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));

  test('are packed together, but for what an import brought, and nothing is lost', async () => {
    stage.run(own, 'repack', '-adq');
    const [imported = ''] = packs();
    writeFileSync(join(own, 'objects', 'pack', imported.replace('.pack', '.keep')), 'import\n');
    const few = await serve({ gitRepositoryPacks: 4 });
    const who = forge();
    for (let n = 0; n < 10; n += 1) {
      stage.commit(checkout, { 'b.txt': String(n) });
      expect(await git(who, ['push', `HEAD:refs/heads/${branch()}`], few)).toMatchObject({ ok: true });
      expect(packs().length).toBeLessThanOrEqual(5);
    }
    expect(packs()).toContain(imported);
    expect(stage.run(own, 'rev-list', '--count', branchRef(branch()))).toBe('11');
    expect(stage.run(own, 'fsck', '--strict')).not.toContain('missing');
  });

  test('are refused by name when they cannot be packed together', async () => {
    const few = await serve({ gitRepositoryPacks: 1 });
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const line = `${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status`;
    stage.run(own, 'repack', '-adq');
    const before = contents();
    writeFileSync(join(own, 'objects', 'maintenance.lock'), '');
    expect((await rawPush(forge(), [line], await packOf(head, `^${base}`), few)).text).toContain('"limit"');
    rmSync(join(own, 'objects', 'maintenance.lock'));
    expect(contents()).toBe(before);
  });

  test('and fetches of one credential are limited in number, and others go on', async () => {
    const slow = await serve({ gitCallsPerSecond: 0.001, gitCallsBurst: 3 });
    const path = `${slow}${WORKSPACE_PATHS.repository('local', pair)}/info/refs?service=git-upload-pack`;
    const ask = async (bearer: string) => {
      const response = await fetch(path, { headers: { authorization: `Bearer ${bearer}` } });
      return `${response.status} ${(await response.text()).includes('rate_limited')}`;
    };
    const who = forge();
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await ask(who));
    expect(answers).toEqual(['200 false', '200 false', '200 false', '429 true']);
    expect(await ask(forge())).toBe('200 false');
  });
});

describe('[inv-17] [inv-19] objects', () => {
  /** A commit whose tree has this entry, made without git's own checks. */
  function commitWith(mode: string, path: string, content: string): string {
    const file = join(stage.root, `object-${count}`);
    writeFileSync(file, content);
    const blob = stage.run(checkout, 'hash-object', '-w', '--literally', '-t', 'blob', file);
    const tree = Buffer.concat([Buffer.from(`${mode} ${path}\0`), Buffer.from(blob, 'hex')]);
    writeFileSync(file, tree);
    const id = stage.run(checkout, 'hash-object', '-w', '--literally', '-t', 'tree', file);
    return stage.run(checkout, 'commit-tree', '-p', base, '-m', 'hostile', id);
  }

  test.each([
    [
      'a submodule whose URL is an option',
      '100644',
      '.gitmodules',
      '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n',
    ],
    ['a submodule whose name leads out', '100644', '.gitmodules', '[submodule "../../x"]\n\tpath = x\n\turl = ./x\n'],
    ['.gitmodules that is a link', '120000', '.gitmodules', '/etc/passwd'],
    ['a .git directory', '100644', '.git', 'x'],
    ['a .git in other letters', '100644', '.GIT', 'x'],
    ['a name that leads out', '100644', '..', 'x'],
    ['a name with a slash', '100644', 'a/b', 'x'],
  ])('with %s stay in the quarantine, which is gone then', async (_, mode, path, content) => {
    const head = commitWith(mode, path, content);
    const before = contents();
    const line = `${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status`;
    const { text } = await rawPush(forge(), [line], await packOf(head, `^${base}`));
    expect(text).toMatch(/unpack (?!ok)/);
    expect(contents()).toBe(before);
  });

  test('in a broken pack, or missing from it, change nothing', async () => {
    const head = stage.commit(checkout, { 'b.txt': 'b' });
    const whole = await packOf(head, `^${base}`);
    const broken = Buffer.from(whole);
    broken[Math.floor(broken.length / 2)] = (broken[Math.floor(broken.length / 2)] ?? 0) ^ 0xff;
    const line = `${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status`;
    const empty = await packOf();
    const before = contents();
    for (const pack of [broken, whole.subarray(0, -30), empty, Buffer.from('no pack')]) {
      expect((await rawPush(forge(), [line], pack)).text).not.toContain('unpack ok\n0000');
      expect(at(branchRef(branch()))).toBeNull();
    }
    expect(contents()).toBe(before);
    expect((await rawPush(forge(), [line], whole)).text).toContain('unpack ok');
    expect(at(branchRef(branch()))).toBe(head);
  });

  test('beyond the bound are refused by name, announced or not, as are a huge list of refs and a full repository', async () => {
    const head = stage.commit(checkout, { 'b.txt': Array.from({ length: 4_000 }, (_, n) => n * n * n).join() });
    const small = await serve({ gitPushBytes: 2_000 });
    const line = `${'0'.repeat(40)} ${head} refs/heads/${branch()}\0report-status`;
    const pack = await packOf(head, `^${base}`);
    const before = contents();
    expect(await rawPush(forge(), [line], pack, small)).toMatchObject({ status: 413 });
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from(`${packet(line)}0000`));
        for (let n = 0; n < pack.length; n += 1000) controller.enqueue(pack.subarray(n, n + 1000));
        controller.close();
      },
    });
    const path = `${WORKSPACE_PATHS.repository('local', pair)}/git-receive-pack`;
    const headers = { authorization: `Bearer ${forge()}`, 'content-type': 'application/x-git-receive-pack-request' };
    const chunked = await fetch(`${small}${path}`, { method: 'POST', headers, body: pieces, duplex: 'half' });
    expect(chunked.status).toBe(413);
    const many = Array.from({ length: 5_000 }, (_, n) => `${base} ${head} refs/heads/x${n}`);
    expect(await rawPush(forge(), many)).toMatchObject({ status: 413 });
    const full = await serve({ gitRepositoryBytes: -1 });
    expect((await rawPush(forge(), [line], pack, full)).text).toContain('"limit"');
    expect(contents()).toBe(before);
  });
});

test('two pushes at once: one after the other, and the later one is told that the branch moved', async () => {
  const first = stage.commit(checkout, { 'b.txt': 'one' });
  stage.run(checkout, 'reset', '--quiet', '--hard', base);
  const second = stage.commit(checkout, { 'b.txt': 'two' });
  const outcomes = await Promise.all([
    push(forge(), `${first}:refs/heads/${branch()}`),
    push(forge(), `${second}:refs/heads/${branch()}`),
  ]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect([first, second]).toContain(at(branchRef(branch())));
});

test("[inv-05] the control plane's own refs are not listed, but for the reviews", async () => {
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const headers = { authorization: `Bearer ${forge()}` };
    const path = `${WORKSPACE_PATHS.repository('local', pair)}/info/refs?service=${service}`;
    const text = await (await fetch(`${url}${path}`, { headers })).text();
    expect(text).toContain('refs/heads/main');
    expect(text).toContain('refs/portcullis/reviews/T-1');
    expect(text).not.toContain('refs/portcullis/candidates');
  }
});

test('[inv-17] a push runs no hook, also not one that is in the repository', async () => {
  const marker = join(stage.root, `ran-${count}`);
  mkdirSync(join(own, 'hooks'));
  for (const hook of ['pre-receive', 'update', 'post-receive', 'reference-transaction', 'proc-receive']) {
    writeFileSync(join(own, 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  }
  stage.commit(checkout, { 'b.txt': 'b' });
  expect(await push(forge(), `HEAD:refs/heads/${branch()}`)).toMatchObject({ ok: true });
  expect(existsSync(marker)).toBe(false);
});
