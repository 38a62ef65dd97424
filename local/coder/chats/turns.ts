/**
 * Turns of chats. A message starts one, one that comes meanwhile waits; an interrupt ends the turn and the next in the
 * queue starts. What a provider refuses is an error at once or tried again for long, during which the chat says `running`.
 */
import type { LocalCoderContext } from '../context.ts';
import type { TurnOutcome } from '../runtime.ts';
import type { Chat, Message, Provider } from '../state/records.ts';
import { bind } from './bind.ts';
import { bump } from '../workspaces/autostop.ts';
import { chatFailure, KEYS_REFUSED } from './failure.ts';
import { previewReset, retryEvent, statusEvent } from './frames.ts';
import { addMessage, addTurnMessage, messageText, NO_AGENT } from './messages.ts';

const ATTEMPTS = 25;
const LONGEST_PAUSE_MS = 60_000;

export interface ChatTurns {
  /** The last message of the chat is the prompt. */
  start(chatId: string): void;
  interrupt(chatId: string): void;
  /** What a killed server left: a turn that ran is run again, one that was being interrupted is over. */
  resume(): void;
  /** Resolves when no turn runs any more; their chats stay `running` in the state. */
  stop(): Promise<void>;
}

export function chatTurns(coder: () => LocalCoderContext): ChatTurns {
  const running = new Map<string, AbortController>();
  const work = new Set<Promise<void>>();
  let stopped = false;

  const change = (chatId: string, fields: Partial<Chat>): Chat => {
    const { state, clock, frames } = coder();
    const chat = state.chats.get(chatId);
    if (chat === undefined) throw new Error(`chat ${chatId} is not in the state`);
    const changed = state.chats.put({ ...chat, ...fields, updatedAt: clock.iso() });
    if (changed.status !== chat.status || fields.status !== undefined) {
      frames.tell(chatId, [statusEvent(chatId, changed.status)]);
    }
    return changed;
  };
  const start = (chatId: string, firstAttempt = 1): void => {
    if (stopped) return;
    const interrupt = new AbortController();
    running.set(chatId, interrupt);
    change(chatId, { status: 'running', lastError: null });
    const worked = turn(coder(), chatId, firstAttempt, interrupt.signal).then((outcome) => {
      running.delete(chatId);
      work.delete(worked);
      if (!stopped) finish(chatId, outcome);
    });
    work.add(worked);
  };
  const finish = (chatId: string, outcome: TurnOutcome): void => {
    const chat = coder().state.chats.get(chatId);
    const [next, ...queue] = chat?.queue ?? [];
    if (chat !== undefined && next !== undefined) {
      addMessage(coder(), change(chatId, { queue }), { role: 'user', part: { type: 'text', text: next.text } });
      start(chatId);
    } else if (outcome.outcome === 'failed' && chat?.status !== 'interrupting') {
      change(chatId, { status: 'error', lastError: chatFailure(providerOf(coder(), chat), outcome) });
    } else {
      const lastTurnSummary = outcome.outcome === 'interrupted' ? null : 'Finished latest turn';
      change(chatId, { status: 'waiting', lastTurnSummary });
    }
  };
  return {
    start: (chatId) => start(chatId),
    interrupt(chatId) {
      change(chatId, { status: 'interrupting' });
      running.get(chatId)?.abort();
    },
    resume() {
      for (const { id, status } of coder().state.chats.all()) {
        if (status === 'running') start(id, 2);
        if (status === 'interrupting') finish(id, { outcome: 'interrupted' });
      }
    },
    async stop() {
      stopped = true;
      for (const interrupt of running.values()) interrupt.abort();
      await Promise.allSettled(work);
    },
  };
}

async function turn(
  coder: LocalCoderContext,
  chatId: string,
  firstAttempt: number,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  let pause = 1_000;
  const { clock, frames, state } = coder;
  for (let attempt = firstAttempt; ; attempt += 1) {
    frames.tell(chatId, [previewReset(chatId)]);
    const outcome = await tried(coder, chatId, attempt, signal);
    if (signal.aborted) return { outcome: 'interrupted' };
    if (outcome.outcome !== 'failed' || !outcome.retryable || attempt >= ATTEMPTS) return outcome;
    const retry = { attempt, delayMs: pause, error: outcome.message, kind: outcome.kind };
    const again = new Date(clock.now().getTime() + pause).toISOString();
    frames.tell(chatId, [retryEvent(chatId, retry, providerOf(coder, state.chats.get(chatId)), again)]);
    const slept = await clock.sleep(pause, signal).then(
      () => true,
      () => false,
    );
    if (!slept) return { outcome: 'interrupted' };
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

async function tried(
  coder: LocalCoderContext,
  chatId: string,
  attempt: number,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { state, runtime } = coder;
  const known = state.chats.get(chatId);
  if (known === undefined) return { outcome: 'interrupted' };
  const chat = bind(coder, known);
  const provider = providerOf(coder, chat);
  if (provider?.keysRefused === true) return KEYS_REFUSED;
  const history = state.messages.of(chatId);
  const asked = history.findLast(({ role }) => role === 'user');
  if (chat.workspaceId !== null) bump(coder, chat.workspaceId);
  let outcome: TurnOutcome;
  try {
    outcome = await runtime.runTurn(
      {
        chatId,
        workspaceId: chat.workspaceId,
        model: state.models.get(chat.modelConfigId)?.model ?? '',
        attempt,
        labels: chat.labels,
        prompt: asked === undefined ? '' : messageText(asked),
        history: history
          .filter((message) => message !== asked)
          .map(({ role, ...rest }) => ({ role, text: textOf(rest) })),
      },
      { signal, message: (message) => addTurnMessage(coder, chat, message) },
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    outcome = { outcome: 'failed', kind: 'generic', message, retryable: false, statusCode: null };
  }
  if (outcome.outcome === 'no_agent') {
    const command = asked === undefined ? '' : messageText(asked).replace(/^RUN: /, '');
    addTurnMessage(coder, chat, { role: 'tool', command, output: '', exitCode: 1 }, NO_AGENT);
    addTurnMessage(coder, chat, { role: 'assistant', text: NO_AGENT });
  }
  if (outcome.outcome === 'failed' && outcome.kind === 'auth' && provider !== undefined) {
    state.providers.put({ ...provider, keysRefused: true });
    return KEYS_REFUSED;
  }
  return outcome;
}

function textOf(message: Omit<Message, 'role'>): string {
  return messageText({ ...message, role: 'user' });
}

function providerOf({ state }: LocalCoderContext, chat: Chat | undefined): Provider | undefined {
  return state.providers.get(state.models.get(chat?.modelConfigId ?? '')?.providerId ?? '');
}
