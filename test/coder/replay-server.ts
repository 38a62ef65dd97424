/** A server that answers with recorded exchanges: each request takes the first unused one of its method and path. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exchange } from './recordings.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

export interface Replay {
  readonly url: string;
  readonly received: readonly Received[];
  /** What was asked for and is not in the script; tests expect it to be empty. */
  readonly unscripted: readonly string[];
  close(): Promise<void>;
}

/** `fault`: the connection is cut (`cut`), or never answered (`silent`), instead of the recorded answer. */
export interface Scripted {
  readonly exchange: Exchange;
  readonly fault?: 'cut' | 'silent';
}

export async function startReplay(script: readonly (Exchange | Scripted)[]): Promise<Replay> {
  const waiting = script.map((entry) => ('exchange' in entry ? entry : { exchange: entry }));
  const received: Received[] = [];
  const unscripted: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const path = request.url ?? '';
      const method = request.method ?? '';
      received.push({ method, path, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) });
      const place = waiting.findIndex(({ exchange }) => keyOf(exchange.method, exchange.path) === keyOf(method, path));
      const entry: Scripted | undefined = waiting.splice(place, place < 0 ? 0 : 1)[0];
      if (entry === undefined) {
        unscripted.push(`${method} ${path}`);
        response.writeHead(501).end();
        return;
      }
      if (entry.fault === 'cut') request.socket.destroy();
      else if (entry.fault === undefined) {
        const { status, headers, body } = entry.exchange;
        response.writeHead(status, {
          'content-type': 'application/json',
          'x-coder-build-version': 'v2.36.0',
          ...headers,
        });
        response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    unscripted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `me` was the user `operator`; the order of a query, and paging that a recording did without, mean nothing. */
function keyOf(method: string, path: string): string {
  const url = new URL(path, 'http://replay');
  for (const paging of ['limit', 'offset']) url.searchParams.delete(paging);
  url.searchParams.sort();
  const query = url.searchParams.toString().replace('owner%3Ame', 'owner%3Aoperator');
  return `${method} ${url.pathname.replace('/users/me/', '/users/operator/')}?${query}`;
}
