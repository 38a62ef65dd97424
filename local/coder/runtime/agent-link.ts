/** Hears what the agent of one workspace says, for as long as its processes are there. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readLines, writeLine } from '../../../workers/agent/lines.ts';
import type { WatchEvent } from '../../../workers/agent/protocol.ts';
import type { AgentEvent } from '../runtime.ts';
import { isAlive, type FoundCompute } from './compute.ts';

const watchEvent: z.ZodType<WatchEvent> = z.discriminatedUnion('event', [
  z.object({ event: z.literal('boot'), boot: z.string() }),
  z.object({
    event: z.literal('lifecycle'),
    n: z.int(),
    state: z.enum(['starting', 'ready', 'start_error', 'shutting_down', 'off']),
  }),
  z.object({ event: z.literal('log'), n: z.int(), level: z.enum(['info', 'error']), text: z.string() }),
]);

const RETRY_MS = 50;
/** A workspace without a harness is looked at this often. */
const LOOK_MS = 500;

export interface AgentLink {
  /** Nothing is said from here on. */
  close(): void;
}

/** `known`: an earlier server heard the start of it; what it said then is not said again. */
export function linkAgent(
  { record, place }: FoundCompute,
  listener: (event: AgentEvent) => void,
  known: boolean,
): AgentLink {
  const { agentId } = record;
  const closing = new AbortController();
  const say = (event: AgentEvent) => {
    if (!closing.signal.aborted) listener(event);
  };
  const gone = () => say({ agentId, event: 'disconnected' });

  async function hearHarness(): Promise<void> {
    const boots = new Set<string>();
    for (let quiet = known; !closing.signal.aborted;) {
      const heard = await hear(place.channel, closing.signal, (event) => {
        if (event.event === 'boot') {
          if (boots.size === 0 && !known) say({ agentId, event: 'connected' });
          boots.add(event.boot);
        } else if (event.event === 'lifecycle') {
          if (!(quiet && event.state === 'starting')) say({ agentId, event: 'lifecycle', state: event.state });
        } else if (!quiet) {
          say({ agentId, event: 'log', level: event.level, text: event.text });
        }
      });
      // The harness is started again when it ends, and then begins anew.
      if (heard) quiet = false;
      if (!(await isAlive(place))) break;
      await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
    if (boots.size > 0 || known) gone();
  }

  /** Compute without a harness is as connected as its first process is alive. */
  async function standIn(): Promise<void> {
    say({ agentId, event: 'connected' });
    if (!known) {
      say({ agentId, event: 'lifecycle', state: 'starting' });
      const failed = record.startExit !== null && record.startExit !== 0;
      say({ agentId, event: 'lifecycle', state: failed ? 'start_error' : 'ready' });
    }
    while (!closing.signal.aborted && (await isAlive(place))) {
      await delay(LOOK_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
    gone();
  }

  if (record.connects) void (record.role === null ? standIn() : hearHarness());
  return { close: () => closing.abort() };
}

/** Resolves when the connection is over: true when there was one. */
function hear(channel: string, closing: AbortSignal, take: (event: WatchEvent) => void): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = false;
    const socket: Socket = connect({ path: channel });
    const end = () => socket.destroy();
    closing.addEventListener('abort', end, { once: true });
    socket.once('connect', () => writeLine(socket, { ask: 'watch' }));
    socket.on('error', end);
    socket.once('close', () => {
      closing.removeEventListener('abort', end);
      resolve(heard);
    });
    readLines(socket, (line) => {
      const parsed = watchEvent.safeParse(jsonOf(line));
      if (!parsed.success) return;
      heard = true;
      take(parsed.data);
    });
  });
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
