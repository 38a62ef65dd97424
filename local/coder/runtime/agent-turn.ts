/** One turn: the configured command, run by the harness in the workspace; what it prints is the agent's message. */
import { connect } from 'node:net';
import { z } from 'zod';
import { readLines, writeLine } from '../../../workers/agent/lines.ts';
import type { TurnCommand, TurnEvent } from '../../../workers/agent/protocol.ts';
import type { RuntimeTurn, TurnOutcome, TurnWatch } from '../runtime.ts';
import { Progress } from './progress.ts';
import type { AgentCommand } from './settings.ts';

const turnEvent: z.ZodType<TurnEvent> = z.discriminatedUnion('event', [
  z.object({ event: z.literal('progress'), text: z.string() }),
  z.object({
    event: z.literal('ended'),
    code: z.int().nullable(),
    signal: z.string().nullable(),
    timedOut: z.boolean(),
    output: z.string(),
    trouble: z.string(),
  }),
  z.object({ event: z.literal('refused'), reason: z.string() }),
]);

/** The turn as the harness runs it. */
export function turnCommand(agent: AgentCommand, turn: Pick<RuntimeTurn, 'prompt' | 'history'>): TurnCommand {
  const again = turn.history.some(({ role }) => role === 'assistant');
  const template = again && agent.resume !== null ? agent.resume : agent.argv;
  return {
    argv: template,
    prompt: turn.prompt,
    environment: agent.environment,
    timeoutSecs: agent.timeoutSecs,
  };
}

/** Asks the harness behind the channel. A cut connection ends the command. */
export function askForTurn(channel: string, command: TurnCommand, watch: TurnWatch): Promise<TurnOutcome> {
  return new Promise((resolve) => {
    const program = command.argv[0] ?? '';
    const progress = new Progress((output) => watch.message({ role: 'tool', command: program, output, exitCode: 0 }));
    let outcome: TurnOutcome = { outcome: 'no_agent' };
    const socket = connect({ path: channel });
    const cut = () => {
      outcome = { outcome: 'interrupted' };
      socket.destroy();
    };
    watch.signal.addEventListener('abort', cut, { once: true });
    socket.once('connect', () => writeLine(socket, { ask: 'turn', ...command }));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      watch.signal.removeEventListener('abort', cut);
      // What it said last is known although its end is not; an interrupted turn is heard no more.
      if (watch.signal.aborted) progress.close();
      else progress.flush();
      resolve(outcome);
    });
    readLines(socket, (line) => {
      const parsed = turnEvent.safeParse(jsonOf(line));
      if (!parsed.success || watch.signal.aborted) return;
      const event = parsed.data;
      if (event.event === 'progress') progress.add(event.text);
      if (event.event !== 'ended') return;
      progress.flush();
      outcome = outcomeOf(event, watch);
    });
    if (watch.signal.aborted) cut();
  });
}

function outcomeOf(ended: Extract<TurnEvent, { event: 'ended' }>, watch: TurnWatch): TurnOutcome {
  const text = ended.output.trim();
  if (text !== '') watch.message({ role: 'assistant', text });
  if (ended.code === 0) return { outcome: 'answered' };
  const [last = ''] = ended.trouble.trim().split('\n').slice(-1);
  const how = ended.timedOut ? 'took too long' : `ended with ${ended.code ?? ended.signal ?? 'nothing'}`;
  return {
    outcome: 'failed',
    kind: ended.timedOut ? 'timeout' : 'generic',
    message: `The agent's command ${how}${last === '' ? '' : `: ${last}`}`.slice(0, 1_000),
    retryable: false,
    statusCode: null,
  };
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
