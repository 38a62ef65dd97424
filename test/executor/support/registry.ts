/** A stand-in for package registries: serves the archives it is given, counts what it is asked, and can be slow or endless. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { contentDigest, digestHex } from '../../../schemas/digest.ts';
import { createHash } from 'node:crypto';

export interface FakeRegistry {
  readonly url: string;
  /** Targets in the order in which they were asked for. */
  readonly asked: string[];
  readonly authorizations: Set<string>;
  serve(target: string, body: Buffer | string | ((res: ServerResponse, req: IncomingMessage) => void)): void;
  close(): Promise<void>;
}

export async function startFakeRegistry(): Promise<FakeRegistry> {
  const served = new Map<string, Parameters<FakeRegistry['serve']>[1]>();
  const asked: string[] = [];
  const authorizations = new Set<string>();
  const server = createServer((req, res) => {
    asked.push(req.url ?? '');
    authorizations.add(req.headers.authorization ?? '');
    const body = served.get(req.url ?? '');
    if (body === undefined) res.writeHead(404).end();
    else if (typeof body === 'function') body(res, req);
    else res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    asked,
    authorizations,
    serve: (target, body) => void served.set(target, body),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A gzipped tar archive of these files. */
export function archive(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const body = Buffer.from(content);
    return [header(path, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\0', 257);
  block.write('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** As npm writes a digest into a lockfile. */
export function integrity(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

export function sha256Hex(bytes: Buffer): string {
  return digestHex(contentDigest(bytes));
}
