import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EGRESS_HEADERS, EGRESS_ORIGIN, EGRESS_REFUSED_HEADER } from '../../schemas/egress.ts';
import type { EgressSettings } from './settings.ts';
import { startEgress, type RunningEgress } from './start-egress.ts';

const KEY = 'k'.repeat(43);
const SECRET = 'Bearer of-the-registry';

interface Upstream {
  readonly server: Server;
  readonly base: URL;
  readonly asked: {
    readonly url: string;
    readonly authorization: string | undefined;
    readonly accept: string | undefined;
  }[];
  answer: (req: IncomingMessage, res: ServerResponse) => void;
}

async function startUpstream(): Promise<Upstream> {
  const asked: Upstream['asked'] = [];
  const server = createServer((req, res) => {
    asked.push({ url: req.url ?? '', authorization: req.headers.authorization, accept: req.headers.accept });
    upstream.answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  const upstream: Upstream = {
    server,
    base: new URL(`http://127.0.0.1:${port}/root/`),
    asked,
    answer: (_, res) => void res.end('ok'),
  };
  return upstream;
}

let registry: Upstream;
let other: Upstream;
let egress: RunningEgress;
let lines: string[];

function settings(): EgressSettings {
  const one = { base: registry.base, authorization: SECRET };
  return {
    host: '127.0.0.1',
    port: 0,
    key: KEY,
    upstreams: { npm: one, 'crates-index': one, go: one, pypi: one },
    logger: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
  };
}

beforeAll(async () => {
  registry = await startUpstream();
  other = await startUpstream();
  lines = [];
  const limits = { answerBytes: 4096, metadataBytes: 4096, firstByteMs: 300, perHolder: 2 };
  egress = await startEgress({ ...settings(), limits });
});
beforeEach(() => {
  for (const one of [registry, other]) {
    one.asked.length = 0;
    one.answer = (_, res) => void res.end('ok');
  }
  lines.length = 0;
});
afterAll(async () => {
  await egress.close();
  for (const { server } of [registry, other]) {
    server.close();
    server.closeAllConnections();
  }
});

function ask(target: string, init: RequestInit = {}, at: RunningEgress = egress): Promise<Response> {
  const headers = { [EGRESS_HEADERS.key]: KEY, [EGRESS_HEADERS.holder]: 'local/T-1', ...(init.headers as object) };
  return fetch(`http://127.0.0.1:${at.port}${target}`, { redirect: 'manual', ...init, headers });
}

describe('who and what passes', () => {
  it('[inv-05] asks for the key', async () => {
    expect((await ask('/npm/ms', { headers: { [EGRESS_HEADERS.key]: 'wrong' } })).status).toBe(401);
    expect(registry.asked).toEqual([]);
  });

  it.each([
    ['POST', '/npm/ms'],
    ['DELETE', '/npm/ms'],
    ['GET', '/npm/-/whoami'],
    ['GET', '/npm/-/v1/search?text=x'],
    ['GET', '/npm/ms/-/ms-1.0.0.tgz?x=1'],
    ['GET', '/npm/%2e%2e/secret'],
    ['GET', '/elsewhere/ms'],
    ['GET', '/go/example.com/@v/v1.0.0.exe'],
    ['GET', '/crates/x/1.0.0/upload'],
    ['GET', '/crates-index/.git/config'],
    ['GET', '/pypi/pypi/six/json'],
    ['GET', '/go-sumdb/sumdb/sum.golang.org/latest'],
  ])('[inv-05] [inv-19] refuses %s %s and asks nobody', async (method, target) => {
    const answer = await ask(target, { method });
    expect(answer.status).toBe(403);
    expect(answer.headers.get(EGRESS_REFUSED_HEADER)).toBe('egress_refused');
    expect(registry.asked).toEqual([]);
  });

  it.each([
    ['/npm/@scope/name/-/name-1.0.0-rc.1.tgz', '/root/@scope/name/-/name-1.0.0-rc.1.tgz'],
    ['/go/github.com/!burnt!sushi/toml/@v/v1.4.0.zip', '/root/github.com/!burnt!sushi/toml/@v/v1.4.0.zip'],
    ['/go/example.com/a/@v/v2.0.0+incompatible.mod', '/root/example.com/a/@v/v2.0.0+incompatible.mod'],
    [
      '/go/sumdb/sum.golang.org/lookup/github.com/a/b@v1.0.0',
      '/root/sumdb/sum.golang.org/lookup/github.com/a/b@v1.0.0',
    ],
    ['/go/sumdb/sum.golang.org/tile/8/1/x001/234.p/17', '/root/sumdb/sum.golang.org/tile/8/1/x001/234.p/17'],
    ['/crates-index/se/rd/serde', '/root/se/rd/serde'],
    ['/crates-index/3/l/log', '/root/3/l/log'],
  ])('passes %s on with the credential of its registry', async (target, asked) => {
    const answer = await ask(target);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    expect(registry.asked).toMatchObject([{ url: asked, authorization: SECRET }]);
  });
});

describe('what comes back', () => {
  it('[inv-05] names this proxy as the place of every npm archive', async () => {
    const dist = { tarball: 'https://evil.example/ms.tgz', integrity: 'sha512-x' };
    registry.answer = (_, res) =>
      void res.end(JSON.stringify({ name: 'ms', versions: { '1.0.0': { name: 'ms', version: '1.0.0', dist } } }));
    const document = await (await ask('/npm/ms')).text();
    expect(document).toContain(`${EGRESS_ORIGIN}/npm/ms/-/ms-1.0.0.tgz`);
    expect(document).not.toContain('evil.example');
  });

  it('[inv-05] leads to files of PyPI that its own page named, and to no other', async () => {
    const file = new URL('/packages/six-1.0-py3-none-any.whl', other.base);
    registry.answer = (_, res) =>
      void res.end(`<a href="${file.href}#sha256=ab">six</a> <a href="ftp://x/y">y</a> <a href="javascript:z">z</a>`);
    const page = await (await ask('/pypi/simple/six/')).text();
    const link = /href="([^"#]+)#sha256=ab"/.exec(page)?.[1] ?? '';
    expect(link.startsWith(`${EGRESS_ORIGIN}/pypi/file/`)).toBe(true);
    expect(page).not.toMatch(/ftp:|javascript:/);
    const target = link.slice(EGRESS_ORIGIN.length);
    expect((await ask(target)).status).toBe(200);
    expect((await ask(`${target}.metadata`)).status).toBe(200);
    // The registry's credential is not shown to another server.
    expect(other.asked.map(({ url, authorization }) => [url, authorization])).toEqual([
      ['/packages/six-1.0-py3-none-any.whl', undefined],
      ['/packages/six-1.0-py3-none-any.whl.metadata', undefined],
    ]);
    const encoded = Buffer.from('http://169.254.169.254/six.whl').toString('base64url');
    const forged = target.replace(/(file\/[^/]+)\/[^/]+\/.*$/, `$1/${encoded}/six.whl`);
    expect((await ask(forged)).status).toBe(403);
  });

  it('[inv-05] names this proxy in the configuration of the crates index, and finds archives by the registry’s own', async () => {
    const dl = new URL('/dl/{lowerprefix}/{crate}-{version}.crate', other.base).href
      .replaceAll('%7B', '{')
      .replaceAll('%7D', '}');
    registry.answer = (_, res) => void res.end(JSON.stringify({ dl, 'auth-required': true }));
    expect(await (await ask('/crates-index/config.json')).json()).toEqual({ dl: `${EGRESS_ORIGIN}/crates` });
    expect((await ask('/crates/Serde/1.0.0/download')).status).toBe(200);
    expect(other.asked).toMatchObject([{ url: '/dl/se/rd/Serde-1.0.0.crate', authorization: undefined }]);
  });

  it('[inv-15] follows a redirect itself, without the credential, and not to a weaker scheme', async () => {
    registry.answer = (_, res) => void res.writeHead(302, { location: new URL('/file', other.base).href }).end();
    expect((await ask('/go/a.example/b/@v/list')).status).toBe(200);
    expect(other.asked).toMatchObject([{ url: '/file', authorization: undefined }]);
    registry.answer = (_, res) => void res.writeHead(302, { location: 'file:///etc/passwd' }).end();
    expect((await ask('/go/a.example/b/@v/list')).status).toBe(502);
    registry.answer = (req, res) => void res.writeHead(302, { location: req.url ?? '' }).end();
    expect((await ask('/go/a.example/b/@v/list')).status).toBe(502);
  });

  it('[inv-19] cuts what is longer than it may be, and does not wait for ever', async () => {
    registry.answer = (_, res) => void res.end('x'.repeat(10_000));
    expect((await ask('/npm/ms')).status).toBe(502);
    await expect(ask('/npm/ms/-/ms-1.0.0.tgz').then((answer) => answer.text())).rejects.toThrow();
    registry.answer = () => {};
    expect((await ask('/npm/ms/-/ms-1.0.0.tgz')).status).toBe(502);
  });

  it('[inv-19] serves one pair at most so many at once', async () => {
    registry.answer = (_, res) => void setTimeout(() => res.end('ok'), 100);
    const answers = await Promise.all([1, 2, 3].map(() => ask('/npm/ms/-/ms-1.0.0.tgz')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
  });

  it('[inv-19] keeps no place for whoever does not read, longer than an answer may take', async () => {
    registry.answer = (_, res) => void res.end(Buffer.alloc(24 * 1024 * 1024));
    const one = await startEgress({ ...settings(), limits: { perHolder: 1, answerMs: 500 } });
    const headers = `${EGRESS_HEADERS.key}: ${KEY}\r\n${EGRESS_HEADERS.holder}: local/T-1`;
    const unread = connect(one.port, '127.0.0.1').on('error', () => {});
    unread.write(`GET /npm/ms/-/ms-1.0.0.tgz HTTP/1.1\r\nhost: e\r\n${headers}\r\n\r\n`);
    try {
      await once(unread, 'data');
      unread.pause();
      registry.answer = (_, res) => void res.end('ok');
      await expect
        .poll(async () => (await ask('/npm/ms/-/ms-1.0.0.tgz', {}, one)).status, { timeout: 15_000 })
        .toBe(200);
    } finally {
      unread.destroy();
      await one.close();
    }
  });

  it('[inv-15] logs each request with whom it was for, and no credential', async () => {
    await ask('/npm/ms/-/ms-1.0.0.tgz').then((answer) => answer.text());
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      holder: 'local/T-1',
      method: 'GET',
      path: '/npm/ms/-/ms-1.0.0.tgz',
      status: 200,
      bytes: 2,
    });
    expect(lines.join('')).not.toMatch(/of-the-registry|kkkk/);
  });
});
