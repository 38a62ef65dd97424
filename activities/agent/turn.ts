/**
 * One turn of an agent over Coder's chats (spec/workspaces.md section 3). The server has no "done": a turn is over when the chat
 * is idle again and has said something since it was asked. Progress is a new message, not a status.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentAnswer, AgentTurn } from '../../schemas/workspace/agent.ts';
import type { ChatMessage, ChatPort, ChatState } from '../coder/chats/port.ts';

/** The label by which a chat of a run is found again, and torn down with its workspace. */
export const CHAT_LABEL = 'portcullis_run';

const MAX_MESSAGE_BYTES = 64 * 1024;
/** The newest messages looked at: a turn that says more than this has its last one among them all the same. */
const MESSAGE_WINDOW = 100;
const FIRST_LOOK_MS = 150;
const LONGEST_LOOK_MS = 2_000;
/** An idle chat that has said nothing is believed only when it still is: a turn that was just asked for may not have begun. */
const SETTLE_MS = 3_000;

export interface AgentNeeds {
  readonly chats: ChatPort;
  readonly organizationId: () => Promise<string>;
  /** Called at each look; carries the activity's heartbeat. */
  readonly alive: () => void;
  readonly cancellation: AbortSignal;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** False when the workspace's agent is certainly out of sight; what cannot be read is no sign of that. */
  readonly isThere: () => Promise<boolean>;
  /** How long to wait for one that is out of sight, in milliseconds: longer than its workflow takes to call it lost; 0: not at all. */
  readonly absenceMs: number;
}

/** @throws the codes of the chat port */
export async function agentTurn(needs: AgentNeeds, turn: AgentTurn): Promise<AgentAnswer> {
  const { chatId, asked } = await askOnce(needs, turn);
  try {
    const over = await answerOf(needs, turn, chatId, asked);
    return needs.absenceMs === 0 || (await needs.isThere()) ? over : await afterAbsence(needs);
  } catch (thrown) {
    // Nobody waits for the answer any more; the chat must not go on by itself.
    if (needs.cancellation.aborted) await needs.chats.interrupt(chatId).catch(() => 'idle');
    throw thrown;
  }
}

/**
 * Nobody can have worked where nobody is, whatever the chat says of it. Asking again at once would use up the ticket's patience long
 * before its workspace is known to be lost, so this waits: for the agent, or for the end of the workspace, which cancels this.
 */
async function afterAbsence(needs: AgentNeeds): Promise<AgentAnswer> {
  const began = needs.now();
  for (
    let pause = FIRST_LOOK_MS;
    needs.now() - began < needs.absenceMs;
    pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)
  ) {
    needs.alive();
    await delay(pause, undefined, { signal: needs.cancellation });
    if (await needs.isThere()) break;
  }
  return { outcome: 'died', message: '' };
}

interface Asked {
  readonly chatId: string;
  /** Id of the message that asked: what comes after it is the answer. */
  readonly asked: number;
}

/** Asks unless an earlier try of this step did: the n-th message of a user is the n-th turn. */
async function askOnce(needs: AgentNeeds, turn: AgentTurn): Promise<Asked> {
  const { chats, cancellation } = needs;
  const call = { signal: cancellation };
  const request = {
    organizationId: await needs.organizationId(),
    workspaceId: turn.coderWorkspaceId,
    modelConfigId: null,
    label: { key: CHAT_LABEL, value: turn.run },
    prompt: turn.prompt,
  };
  const { chat } = await chats.startOrAdopt(request, call);
  const before = await questions(chats, chat.id);
  if (before.length < turn.turn) await chats.send(chat.id, turn.prompt, call);
  const deadline = needs.now() + SETTLE_MS;
  for (;;) {
    const asked = (await questions(chats, chat.id))[turn.turn - 1];
    if (asked !== undefined) return { chatId: chat.id, asked: asked.id };
    // A message that waits behind a running turn is not listed yet.
    if (needs.now() > deadline) return { chatId: chat.id, asked: newest(before) };
    needs.alive();
    await delay(FIRST_LOOK_MS, undefined, { signal: cancellation });
  }
}

async function answerOf(needs: AgentNeeds, turn: AgentTurn, chatId: string, asked: number): Promise<AgentAnswer> {
  const { chats, cancellation, now } = needs;
  const began = now();
  let seen = asked;
  let progressed = began;
  let idleSince: number | null = null;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
    needs.alive();
    cancellation.throwIfAborted();
    const chat = await chats.read(chatId, { signal: cancellation });
    if (chat === null || chat.archived) return { outcome: 'died', message: '' };
    const messages = await chats.messages(chatId, MESSAGE_WINDOW, { signal: cancellation });
    const latest = newest(messages);
    if (latest > seen) {
      seen = latest;
      progressed = now();
      pause = FIRST_LOOK_MS;
    }
    const said = finalMessage(messages, asked);
    const over = ended(chat, said);
    if (over !== null) return over;
    idleSince = chat.status === 'waiting' ? (idleSince ?? now()) : null;
    if (idleSince !== null && now() - idleSince > SETTLE_MS) return { outcome: 'silent', message: '' };
    if (now() - progressed > turn.stallSecs * 1000) return await given(needs, chatId, 'stalled');
    if (now() - began > turn.timeoutSecs * 1000) return await given(needs, chatId, 'timed_out');
    await delay(pause, undefined, { signal: cancellation });
  }
}

function ended(chat: ChatState, said: string | null): AgentAnswer | null {
  switch (chat.status) {
    case 'waiting':
      return said === null ? null : { outcome: 'answered', message: bounded(said) };
    case 'error':
      return { outcome: 'errored', message: '', kind: chat.lastError?.kind ?? 'unknown' };
    case 'requires_action':
      // Nobody is there who could act.
      return { outcome: 'errored', message: '', kind: 'requires_action' };
    case 'running':
    case 'interrupting':
      return null;
  }
}

/** The turn is given up: the chat is told to stop, so that it does not act on a checkout that somebody else has by then. */
async function given({ chats }: AgentNeeds, chatId: string, outcome: 'stalled' | 'timed_out'): Promise<AgentAnswer> {
  await chats.interrupt(chatId).catch(() => 'idle');
  return { outcome, message: '' };
}

async function questions(chats: ChatPort, chatId: string): Promise<readonly ChatMessage[]> {
  const messages = await chats.messages(chatId, MESSAGE_WINDOW);
  return messages.filter(({ role }) => role === 'user').toSorted((a, b) => a.id - b.id);
}

function finalMessage(messages: readonly ChatMessage[], asked: number): string | null {
  const answers = messages.filter(({ id, role, text }) => id > asked && role === 'assistant' && text.trim() !== '');
  return answers.toSorted((a, b) => b.id - a.id)[0]?.text ?? null;
}

function newest(messages: readonly ChatMessage[]): number {
  return messages.reduce((most, { id }) => Math.max(most, id), 0);
}

/** The end of it: that is where a verdict stands. */
function bounded(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= MAX_MESSAGE_BYTES ? text : bytes.subarray(-MAX_MESSAGE_BYTES).toString('utf8').toWellFormed();
}
