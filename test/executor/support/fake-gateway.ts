/**
 * A stand-in for the gateway in the executor's own tests: takes starts and chunks over a unix socket, serves git read-only,
 * leads gRPC to a Temporal server as it comes, and can be away for a while. What the real one refuses is tested with the real one.
 */
import { spawn } from 'node:child_process';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import { chmod } from 'node:fs/promises';
import { EGRESS_HEADERS, EGRESS_PREFIX } from '../../../schemas/egress.ts';

export interface FakeGateway {
  readonly socketPath: string;
  /** `host:port` of the same server, for git. */
  readonly address: string;
  readonly starts: unknown[];
  /** Chunks by `stream/index`, in the order of their arrival. */
  readonly chunks: Map<string, Buffer>;
  readonly authorizations: Set<string>;
  /** While set, every call is answered with it. */
  failWith: number | null;
  /** Calls that were answered so. */
  refused: number;
  /** The stored bytes of a stream, in order of index. */
  stored(stream: string): Buffer;
  /** Cuts every open connection. */
  cut(): void;
  close(): Promise<void>;
}

export interface FakeGatewaySettings {
  readonly socketPath: string;
  /** Parent of `{tenant}/{pair}.git`. */
  readonly repositories: string;
  /** Where connections that speak HTTP/2 lead; they are cut without it. */
  readonly temporalAddress?: string;
  /** Where calls below `/egress` lead; refused without it. */
  readonly egress?: { readonly url: string; readonly key: string };
  /** The answer to a call, when it is more than 204. */
  readonly onCall?: (path: string, body: Buffer) => Answer | null;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export async function startFakeGateway(settings: FakeGatewaySettings): Promise<FakeGateway> {
  const sockets = new Set<Socket>();
  const http = createServer((req, res) => void answer(gateway, settings, req, res));
  const demultiplex = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (!first.toString('latin1').startsWith('PRI')) http.emit('connection', socket);
      else if (settings.temporalAddress === undefined || gateway.failWith !== null) socket.destroy();
      else join(socket, settings.temporalAddress, sockets);
      socket.resume();
    });
  };
  const unix = createNetServer(demultiplex);
  const tcp = createNetServer(demultiplex);
  const gateway: FakeGateway = {
    socketPath: settings.socketPath,
    address: '',
    starts: [],
    chunks: new Map<string, Buffer>(),
    authorizations: new Set<string>(),
    failWith: null,
    refused: 0,
    stored: (stream) =>
      Buffer.concat(
        [...gateway.chunks]
          .filter(([key]) => key.startsWith(`${stream}/`))
          .toSorted(([a], [b]) => Number(a.split('/')[1]) - Number(b.split('/')[1]))
          .map(([, bytes]) => bytes),
      ),
    cut: () => {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    close: async () => {
      const closed = [unix, tcp].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
  await new Promise<void>((resolve) => unix.listen(settings.socketPath, resolve));
  await chmod(settings.socketPath, 0o666);
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return Object.assign(gateway, { address: `127.0.0.1:${address.port}` });
}

function join(inner: Socket, address: string, sockets: Set<Socket>): void {
  const [host = '', port = ''] = address.split(':');
  const outer = connect(Number(port), host);
  sockets.add(outer.on('error', () => inner.destroy()));
  inner.pipe(outer);
  outer.pipe(inner);
  inner.on('close', () => outer.destroy());
}

async function answer(
  gateway: FakeGateway,
  { repositories, onCall, egress }: FakeGatewaySettings,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  gateway.authorizations.add(req.headers.authorization ?? '');
  const path = req.url ?? '';
  if (gateway.failWith !== null) {
    gateway.refused += 1;
    res.writeHead(gateway.failWith).end();
    return;
  }
  if (path.startsWith(EGRESS_PREFIX)) {
    if (egress === undefined) res.writeHead(502).end();
    else passToEgress(egress, path.slice(EGRESS_PREFIX.length), req, res);
    return;
  }
  if (path.startsWith('/git/')) {
    serveGit(repositories, path, req, body, res);
    return;
  }
  const chunk = /\/(stdout|stderr)\/(\d+)$/.exec(path);
  if (chunk !== null) gateway.chunks.set(`${chunk[1]}/${chunk[2]}`, body);
  else if (path.endsWith('/started')) gateway.starts.push(JSON.parse(body.toString()));
  const reply = onCall?.(path, body) ?? null;
  if (reply === null) res.writeHead(204).end();
  else res.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.json));
}

function passToEgress(
  { url, key }: NonNullable<FakeGatewaySettings['egress']>,
  target: string,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const headers = { accept: req.headers.accept ?? '*/*', [EGRESS_HEADERS.key]: key, [EGRESS_HEADERS.holder]: 'test' };
  const outgoing = request(new URL(target, url), { method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  outgoing.on('error', () => res.destroy());
  outgoing.end();
}

function serveGit(repositories: string, path: string, req: IncomingMessage, body: Buffer, res: ServerResponse): void {
  const [pathname = '', query = ''] = path.slice('/git'.length).split('?');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_PROJECT_ROOT: repositories,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_KEY_1: 'uploadpack.allowAnySHA1InWant',
      GIT_CONFIG_VALUE_1: 'true',
      PATH_INFO: pathname,
      QUERY_STRING: query,
      REQUEST_METHOD: req.method ?? 'GET',
      CONTENT_TYPE: req.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: req.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(req.headers['git-protocol'] ?? ''),
    },
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.stdin.on('error', () => {});
  child.stdin.end(body);
  child.once('close', () => {
    const whole = Buffer.concat(parts);
    const split = whole.indexOf('\r\n\r\n');
    const headers = whole.subarray(0, split).toString().split('\r\n');
    const status = headers.find((line) => line.startsWith('Status:'));
    res.statusCode = status === undefined ? 200 : Number(status.split(' ')[1]);
    for (const line of headers) {
      const [name = '', value = ''] = line.split(': ');
      if (name !== 'Status' && name !== '') res.setHeader(name, value);
    }
    res.end(whole.subarray(split + 4));
  });
}
