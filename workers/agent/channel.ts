/** Serves whoever holds the other end of the inherited socket: watches, and turns. */
import { createServer, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { readLines, writeLine } from './lines.ts';
import type { HarnessRequest, TurnCommand } from './protocol.ts';
import type { StartRecord } from './start-record.ts';
import { runTurn, type TurnSurroundings } from './turn.ts';

const request: z.ZodType<HarnessRequest> = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.literal('watch') }),
  z.strictObject({
    ask: z.literal('turn'),
    argv: z.array(z.string()).min(1),
    prompt: z.string(),
    environment: z.record(z.string(), z.string()),
    timeoutSecs: z.number().positive(),
  }),
]);

export interface Channel {
  close(): void;
}

/** A socket that listens already, by its descriptor, or the path of one to make. */
export type ChannelPlace = { readonly fd: number } | { readonly path: string };

/** `turns` is `null` until the start is done: a turn before that is refused. */
export function serveChannel(place: ChannelPlace, record: StartRecord, turns: () => TurnSurroundings | null): Channel {
  const open = new Set<Socket>();
  const serveTurn = oneTurnAtATime(turns);
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    let asked = false;
    readLines(socket, (line) => {
      if (asked) return;
      asked = true;
      answer(socket, line, record, serveTurn);
    });
  });
  server.listen(place);
  return {
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function answer(socket: Socket, line: string, record: StartRecord, serveTurn: ServeTurn): void {
  const parsed = request.safeParse(jsonOf(line));
  if (!parsed.success) {
    socket.destroy();
    return;
  }
  if (parsed.data.ask === 'watch') {
    const stop = record.watch((event) => writeLine(socket, event));
    socket.once('close', stop);
    return;
  }
  const { ask: _, ...command } = parsed.data;
  serveTurn(socket, command);
}

type ServeTurn = (socket: Socket, command: TurnCommand) => void;

/** Never two agents in one checkout: a new turn ends what is left of the one before, and waits for its end. */
function oneTurnAtATime(turns: () => TurnSurroundings | null): ServeTurn {
  let last: { readonly cut: AbortController; readonly over: Promise<void> } | null = null;
  return (socket, command) => {
    const before = last;
    const cut = new AbortController();
    socket.once('close', () => cut.abort());
    const serve = async (): Promise<void> => {
      before?.cut.abort();
      await before?.over;
      const surroundings = turns();
      try {
        if (surroundings === null) writeLine(socket, { event: 'refused', reason: 'the workspace has not started' });
        else await runTurn(surroundings, command, (event) => writeLine(socket, event), cut.signal);
      } catch (thrown) {
        // A command line that is too long is thrown and not told as an event.
        writeLine(socket, {
          event: 'refused',
          reason: thrown instanceof Error ? thrown.message : 'it cannot be started',
        });
      }
      socket.end();
    };
    last = { cut, over: serve() };
  };
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
