/** The chat adapter over the answers of the version it was checked against. */
import { afterEach, expect, test } from 'vitest';
import { connectChats } from '../../activities/coder/chats/connect.ts';
import type { ChatRequest } from '../../activities/coder/chats/port.ts';
import { as, type Exchange, recorded } from './recordings.ts';
import { type Replay, type Scripted, startReplay } from './replay-server.ts';
import { failing, TOKEN } from './stage.ts';

const CHAT = '433cfbf4-dc67-431d-a0ca-410ff5ca6534';
const created = recorded('13', 11);
const listed = recorded('13', 27);
const nothing = { ...listed, body: [] };

const request: ChatRequest = {
  organizationId: '098e2e7e-b818-4180-bae7-ac3ce569f16b',
  workspaceId: 'a0ea047e-8608-4190-94c4-ed0a0342a4b5',
  modelConfigId: null,
  label: { key: 'ticket', value: 'T-42' },
  prompt: 'say hello',
};

const open: Replay[] = [];
afterEach(async () => {
  const replays = open.splice(0);
  await Promise.all(replays.map((replay) => replay.close()));
  expect(replays.flatMap(({ unscripted }) => unscripted)).toEqual([]);
});

async function stage(script: readonly (Exchange | Scripted)[]) {
  const replay = await startReplay(script);
  open.push(replay);
  return { chats: connectChats({ url: replay.url, token: TOKEN }), replay };
}

test('a chat is looked for by its label before one is started', async () => {
  const { chats, replay } = await stage([nothing, created]);
  const { how, chat } = await chats.startOrAdopt(request);
  expect([how, chat.id, chat.status]).toEqual(['created', CHAT, 'running']);
  expect(replay.received[1]?.body).toMatchObject({ labels: { ticket: 'T-42' }, client_type: 'api' });
});

test('a chat that carries the label for this workspace is adopted', async () => {
  const { chats } = await stage([listed]);
  expect(await chats.startOrAdopt(request)).toMatchObject({ how: 'adopted', chat: { id: CHAT } });
});

test('a chat of another workspace with the label is not', async () => {
  const { chats } = await stage([listed, created]);
  const other = { ...request, workspaceId: '966120e7-671d-4649-9e58-2c05b5987f00' };
  expect(await chats.startOrAdopt(other)).toMatchObject({ how: 'created' });
});

test('a chat whose answer was lost is found by its label', async () => {
  const { chats } = await stage([nothing, { exchange: created, fault: 'cut' }, listed]);
  expect(await chats.startOrAdopt(request)).toMatchObject({ how: 'adopted', chat: { id: CHAT } });
});

test('an identity without the chat role is refused', async () => {
  const { chats } = await stage([nothing, recorded('13', 24)]);
  await expect(chats.startOrAdopt(request)).rejects.toEqual(failing('coder_forbidden'));
});

test('an interrupt of an idle chat says so', async () => {
  const { chats } = await stage([recorded('13', 15), recorded('13', 20)]);
  expect([await chats.interrupt(CHAT), await chats.interrupt(CHAT)]).toEqual(['asked', 'idle']);
});

test.each([
  ['archived', 'done', [recorded('13', 56)]],
  ['archived', 'done before', [recorded('13', 57), recorded('13', 58)]],
  ['active', 'refused while a turn runs', [recorded('13', 13), recorded('13', 12)]],
  [
    'unseen',
    'a chat that is not visible',
    [as(recorded('13', 22), 'PATCH', `/api/experimental/chats/${CHAT}`, 404), recorded('13', 23)],
  ],
] as const)('archiving is %s: %s', async (outcome, _, script) => {
  const { chats } = await stage(script);
  expect(await chats.archive(CHAT)).toBe(outcome);
});

test('a provider that failed is told by kind', async () => {
  const chat = 'fc23c1db-a633-4405-95ff-63f3568e4145';
  const { chats } = await stage([recorded('13', 37)]);
  expect(await chats.read(chat)).toMatchObject({
    status: 'error',
    lastError: { kind: 'auth', retryable: false },
    workspaceId: null,
  });
});

test('messages are their text, newest first, and one that is sent to a busy chat is queued', async () => {
  const { chats } = await stage([recorded('13', 18), recorded('13', 14), recorded('13', 29)]);
  const ids = (await chats.messages(CHAT, 20)).map(({ id }) => id);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
  expect(await chats.send(CHAT, 'second')).toEqual({ queued: true });
  expect(await chats.send(CHAT, 'third')).toEqual({ queued: false });
});

test('an archived chat takes no message', async () => {
  const { chats } = await stage([recorded('13', 59)]);
  await expect(chats.send(CHAT, 'x')).rejects.toEqual(failing('coder_refused'));
});
