import { expect, test } from 'vitest';
import type { AgentTurn } from '../../schemas/workspace/agent.ts';
import type { ChatMessage, ChatPort } from '../coder/chats/port.ts';
import { agentTurn, type AgentNeeds } from './turn.ts';

const TURN: AgentTurn = {
  tenant: 'local',
  run: 'workspace/local/T-1/forge/1',
  coderWorkspaceId: 'w',
  turn: 1,
  prompt: 'Build it.',
  timeoutSecs: 60,
  stallSecs: 60,
};

const MESSAGES: readonly ChatMessage[] = [
  { id: 1, role: 'user', text: TURN.prompt },
  { id: 2, role: 'assistant', text: 'The workspace has no agent.' },
];

/** A chat that has answered, in a workspace whose agent is seen as `there` says, look by look; the last one stays. */
function answered(there: readonly boolean[], change: Partial<AgentNeeds> = {}) {
  const chat = { id: 'c', workspaceId: 'w', status: 'waiting', archived: false, labels: {}, lastError: null } as const;
  const chats: ChatPort = {
    startOrAdopt: () => Promise.resolve({ how: 'created', chat }),
    messages: () => Promise.resolve(MESSAGES),
    read: () => Promise.resolve(chat),
    interrupt: () => Promise.resolve('idle'),
    send: () => Promise.resolve({ queued: false }),
    archive: () => Promise.resolve('archived'),
  };
  let looks = 0;
  return agentTurn(
    {
      chats,
      organizationId: () => Promise.resolve('o'),
      alive: () => {},
      cancellation: new AbortController().signal,
      now: () => performance.now(),
      isThere: () => Promise.resolve(there[Math.min(looks++, there.length - 1)] ?? true),
      absenceMs: 30_000,
      ...change,
    },
    TURN,
  );
}

test('what a chat says is the answer while the agent is there', async () => {
  await expect(answered([true])).resolves.toMatchObject({ outcome: 'answered' });
});

test('[inv-07] what a chat says of a workspace without an agent is no answer: the turn died, once it is seen again', async () => {
  await expect(answered([false, true])).resolves.toEqual({ outcome: 'died', message: '' });
});

test('the end of the workspace ends the wait for its agent', async () => {
  const ending = new AbortController();
  const waiting = answered([false], { cancellation: ending.signal, alive: () => ending.abort() });
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});

test('one that stays out of sight is given up in the end, and where nobody waits at once', async () => {
  let clock = 0;
  const later = () => (clock += 10_000);
  await expect(answered([false], { now: later, absenceMs: 5_000 })).resolves.toMatchObject({ outcome: 'died' });
  await expect(answered([false], { absenceMs: 0 })).resolves.toMatchObject({ outcome: 'answered' });
});
