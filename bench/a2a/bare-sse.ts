/**
 * The peer of the streams, a process of its own: a bare SSE server with a list in memory. It checks nobody, keeps nothing,
 * and sends what it has behind the reader's position. `POST /` appends as many events as its body says.
 *
 * @example node bench/a2a/bare-sse.ts   # prints its port
 */
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

const FRAME = JSON.stringify({
  artifactUpdate: { taskId: 'x'.repeat(40), artifact: { parts: [{ url: 'x'.repeat(80) }] } },
});

let seq = 0;
const readers = new Set<ServerResponse>();
const frameOf = (id: number) => `id: ${id}\ndata: ${FRAME}\n\n`;

async function append(count: number, res: ServerResponse): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    seq += 1;
    for (const reader of readers) reader.write(frameOf(seq));
    // As an event at a time would come.
    await new Promise((resolve) => setImmediate(resolve));
  }
  res.end(String(seq));
}

function subscribe(after: number, res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write(`id: ${after}\ndata: {}\n\n`);
  for (let id = after + 1; id <= seq; id += 1) res.write(frameOf(id));
  readers.add(res);
  res.on('close', () => readers.delete(res));
}

const server = createServer((req, res) => {
  if (req.method === 'POST') void text(req).then((count) => append(Number(count), res));
  else subscribe(Number(req.headers['last-event-id'] ?? 0), res);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`${address?.port ?? 0}\n`);
});
// Its life is its parent's.
process.stdin.resume().on('end', () => process.exit(0));
