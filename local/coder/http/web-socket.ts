/** Web sockets that only tell: text frames to the client; of what comes in, only pings and the wish to end are heard. */
import { webcrypto } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** RFC 6455, section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

export interface Telling {
  send(value: unknown): void;
  end(): void;
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>;
}

export async function acceptWebSocket(request: IncomingMessage, socket: Duplex): Promise<Telling> {
  const key = request.headers['sec-websocket-key'] ?? '';
  const digest = await webcrypto.subtle.digest('SHA-1', new TextEncoder().encode(key + GUID));
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${Buffer.from(digest).toString('base64')}`,
      '\r\n',
    ].join('\r\n'),
  );
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    // Control frames are short and come whole; nothing else is expected from who only listens.
    const opcode = (bytes[0] ?? 0) & 0x0f;
    if (opcode === CLOSE) socket.end(frame(CLOSE, Buffer.alloc(0)));
    if (opcode === PING) socket.write(frame(PONG, Buffer.alloc(0)));
  });
  return {
    send: (value) => void socket.write(frame(TEXT, Buffer.from(JSON.stringify(value)))),
    end: () => void socket.end(frame(CLOSE, Buffer.alloc(0))),
    ended: new Promise((resolve) => socket.once('close', () => resolve())),
  };
}

/** A whole, unmasked frame. */
export function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = first;
  if (length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}
