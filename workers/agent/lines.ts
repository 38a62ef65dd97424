/** Lines of JSON over a socket: written whole, read bounded. */
import type { Readable, Writable } from 'node:stream';
import { MAX_LINE_BYTES } from './protocol.ts';

export function writeLine(socket: Writable, value: object): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}

/** Calls `take` with each line as it is complete. A line that is too long ends the stream. */
export function readLines(stream: Readable, take: (line: string) => void): void {
  let pending = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    pending += part;
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      const line = pending.slice(0, end);
      pending = pending.slice(end + 1);
      take(line);
    }
    if (pending.length > MAX_LINE_BYTES) stream.destroy();
  });
}
