import { expect, test } from 'vitest';
import { needsOf, quickPulse } from '../../test/support/workspace-fakes.ts';
import { PUSH_REQUEST } from '../../schemas/workspace/push.ts';
import type { KillSwitch } from '../../schemas/pair.ts';
import type { ChatLister, ChatMessage, ChatPort, ChatState } from '../coder/chats/port.ts';
import { askToPush } from './ask-to-push.ts';

const KILLED: KillSwitch = { schema: 'portcullis/kill-switch/v1', on: true, reason: 'stop', by: 'o', at: 1 };
const REQUEST = { run: 'workspace/t/T-1/forge/1', tenant: 't', seconds: 60 };

/** A chat that is busy until it is interrupted, and says `answer` when it was asked for the last time. */
function chatting(answer: string | null, change: Partial<ChatState> = {}) {
  const messages: ChatMessage[] = [
    { id: 1, role: 'user', text: 'build' },
    { id: 2, role: 'assistant', text: 'I begin' },
  ];
  let status: ChatState['status'] = 'running';
  const calls: string[] = [];
  const state = (): ChatState => ({
    id: 'c1',
    workspaceId: 'w1',
    status,
    archived: false,
    labels: {},
    lastError: null,
    ...change,
  });
  const never = () => Promise.reject(new Error('not part of this test'));
  const chats: ChatPort & ChatLister = {
    list: () => Promise.resolve([state()]),
    read: () => Promise.resolve(state()),
    messages: () => Promise.resolve(messages.toReversed()),
    send: (_id, text) => {
      calls.push(`send ${text.split('\n')[0] ?? ''}`);
      messages.push({ id: messages.length + 1, role: 'user', text });
      return Promise.resolve({ queued: true });
    },
    interrupt: () => {
      calls.push('interrupt');
      if (answer !== null) {
        messages.push({ id: messages.length + 1, role: 'assistant', text: answer });
        status = 'waiting';
      }
      return Promise.resolve('asked');
    },
    startOrAdopt: never,
    archive: never,
  };
  return { chats, calls };
}

async function asked(chats: (ChatPort & ChatLister) | null, killSwitch: KillSwitch | null = null) {
  const needs = await needsOf({ store: { readKillSwitch: () => Promise.resolve(killSwitch) } });
  const { coder } = needs;
  return await askToPush({ ...needs, coder: coder === null ? null : { ...coder, chats } }, REQUEST, quickPulse());
}

test('the running turn is broken off and the agent is asked to push', async () => {
  const { chats, calls } = chatting('pushed');
  expect(await asked(chats)).toEqual({ came: 'idle' });
  expect(calls).toEqual([`send ${PUSH_REQUEST}`, 'interrupt']);
});

test('a repeated step asks once', async () => {
  const { chats, calls } = chatting('pushed');
  await asked(chats);
  expect(await asked(chats)).toEqual({ came: 'idle' });
  expect(calls.filter((call) => call.startsWith('send'))).toHaveLength(1);
});

test('[inv-12] an agent that goes on for ever gets its time and no more', async () => {
  expect(await asked(chatting(null).chats)).toEqual({ came: 'time_over' });
});

test.each([
  ['no chat is open', chatting('pushed', { archived: true }).chats],
  ['there are no chats', null],
])('nobody is asked where %s', async (_where, chats) => {
  expect(await asked(chats)).toEqual({ came: 'nobody' });
});

test('nobody is asked to push what the kill switch would refuse', async () => {
  const { chats, calls } = chatting('pushed');
  expect(await asked(chats, KILLED)).toEqual({ came: 'refused' });
  expect(calls).toEqual([]);
});

test('an agent whose chat has failed is not waited for', async () => {
  expect(await asked(chatting(null, { status: 'error' }).chats)).toEqual({ came: 'idle' });
});
