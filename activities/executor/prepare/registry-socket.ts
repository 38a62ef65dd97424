/**
 * The socket that a preparation's sandbox is given: an HTTP server of the executor's that takes requests for the registries
 * of one step, and nothing else, and asks the gateway for them. The executor's bearer is added here, so that nothing in the
 * sandbox ever sees it.
 */
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { chmod } from 'node:fs/promises';
import {
  EGRESS_ANSWER_HEADERS,
  EGRESS_PREFIX,
  EGRESS_REFUSED_HEADER,
  EGRESS_REQUEST_HEADERS,
  parseRegistryPath,
  registryTarget,
  type RegistryName,
} from '../../../schemas/egress.ts';

export interface RegistrySocketSettings {
  readonly path: string;
  /** The gateway's unix socket and the executor's bearer for it. */
  readonly gatewaySocket: string;
  readonly bearer: string;
  readonly registries: readonly RegistryName[];
  /** Bytes that may come in all. */
  readonly maxBytes: number;
}

export interface RegistryTraffic {
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
  /** The first target that was refused, bounded; empty when none was. */
  readonly firstRefusal: string;
}

export interface RegistrySocket {
  traffic(): RegistryTraffic;
  close(): Promise<void>;
}

/** Requests at once; the others wait here, which no registry client minds. */
const AT_ONCE = 12;
const ANSWER_MS = 120_000;
const SHOWN_CHARS = 120;
const NO_PATH = 'no such path of a registry';

interface Refusal {
  readonly status: number;
  readonly reason: string;
}

export async function openRegistrySocket(settings: RegistrySocketSettings): Promise<RegistrySocket> {
  const traffic = { requests: 0, refused: 0, bytes: 0, firstRefusal: '' };
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  function refuse(req: IncomingMessage, res: ServerResponse, status: number, reason: string): void {
    traffic.refused += 1;
    const target = (req.url ?? '').replace(/[^\x21-\x7e]/g, '?').slice(0, SHOWN_CHARS);
    if (traffic.firstRefusal === '') traffic.firstRefusal = `${req.method ?? ''} ${target}: ${reason}`;
    // What is left of a body is not read.
    res.writeHead(status, { connection: 'close', 'content-type': 'text/plain' }).end(`${reason}\n`);
  }

  function refusalOf(method: string | undefined, registry: RegistryName | null): Refusal | null {
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'only GET and HEAD pass' };
    if (registry === null) return { status: 403, reason: NO_PATH };
    if (!settings.registries.includes(registry)) return { status: 403, reason: `${registry} is not permitted` };
    return traffic.bytes >= settings.maxBytes ? { status: 403, reason: 'too many bytes were fetched' } : null;
  }

  function serve(req: IncomingMessage, res: ServerResponse): void {
    traffic.requests += 1;
    const path = parseRegistryPath(req.url ?? '');
    const refusal = refusalOf(req.method, path?.registry ?? null);
    if (path === null || refusal !== null) {
      refuse(req, res, refusal?.status ?? 403, refusal?.reason ?? NO_PATH);
      return;
    }
    const outgoing = request({
      agent,
      socketPath: settings.gatewaySocket,
      method: req.method,
      path: EGRESS_PREFIX + registryTarget(path),
      timeout: ANSWER_MS,
      headers: {
        ...kept(req, EGRESS_REQUEST_HEADERS),
        host: 'gateway',
        authorization: `Bearer ${settings.bearer}`,
      },
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => {
      if (res.headersSent) res.destroy();
      else res.writeHead(502, { 'content-type': 'text/plain' }).end('the gateway does not answer\n');
    });
    res.once('close', () => outgoing.destroy());
    outgoing.once('response', (answer) => {
      if (answer.headers[EGRESS_REFUSED_HEADER] !== undefined) {
        traffic.refused += 1;
        if (traffic.firstRefusal === '')
          traffic.firstRefusal = `${(req.url ?? '').slice(0, SHOWN_CHARS)}: refused by the egress`;
      }
      res.writeHead(answer.statusCode ?? 502, kept(answer, EGRESS_ANSWER_HEADERS));
      answer.on('data', (part: Buffer) => {
        traffic.bytes += part.length;
        // Cut rather than ended: what is not whole must not look whole.
        if (traffic.bytes > settings.maxBytes) res.destroy();
      });
      answer.once('error', () => res.destroy());
      answer.once('aborted', () => res.destroy());
      answer.pipe(res);
    });
    outgoing.end();
  }

  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.path, () => resolve());
  });
  await chmod(settings.path, 0o600);
  return {
    traffic: () => ({ ...traffic }),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function kept(from: IncomingMessage, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}
