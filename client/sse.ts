/** Reads server-sent events. The end of the body is told apart from a broken connection: that one throws. */
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { portcullisError } from '../schemas/errors.ts';

export interface ServerEvent {
  readonly id: number | null;
  readonly data: string;
}

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** @throws `stream_cut` when the connection breaks, or is silent for longer than `silenceMs` */
export async function* serverEvents(response: IncomingMessage, silenceMs: number): AsyncGenerator<ServerEvent> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  // Heartbeats come every 15 s: a connection without them is dead even when nobody closed it.
  response.setTimeout(silenceMs, () => response.destroy(new Error('silent for too long')));
  try {
    for await (const part of response) {
      rest += decoder.write(Buffer.from(part as Uint8Array));
      if (rest.length > MAX_EVENT_CHARS) throw new Error('an event is too long');
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readBlock(block);
        if (event !== null) yield event;
      }
    }
  } catch (thrown) {
    throw portcullisError('stream_cut', {}, thrown);
  } finally {
    response.destroy();
  }
}

function readBlock(block: string): ServerEvent | null {
  let id: number | null = null;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    if (field === 'id' && /^[0-9]+$/.test(value)) id = Number(value);
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { id, data: data.join('\n') };
}
