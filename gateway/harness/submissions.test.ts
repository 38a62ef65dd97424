import { expect, test } from 'vitest';
import { Submissions } from './submissions.ts';

const agent = { tenant: 'local', pair: 'T-1', role: 'forge', workspaceGeneration: 1 } as const;
const done = () => Promise.resolve('taken');
const refused = (code: string): unknown => expect.objectContaining({ code });

test('[inv-19] a workspace has one submission under way, and no other workspace waits for it', async () => {
  const submissions = new Submissions(20);
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = submissions.send({ agent, revision: 1, id: 'a' }, () => promise);
  for (const id of ['a', 'b']) {
    await expect(submissions.send({ agent, revision: 1, id }, done)).rejects.toEqual(refused('rate_limited'));
  }
  for (const other of [{ pair: 'T-2' }, { tenant: 'acme' }, { role: 'lore' }, { workspaceGeneration: 2 }] as const) {
    expect(await submissions.send({ agent: { ...agent, ...other }, revision: 1, id: 'a' }, done)).toBe('taken');
  }
  resolve('taken');
  expect(await first).toBe('taken');
  expect(await submissions.send({ agent, revision: 1, id: 'b' }, done)).toBe('taken');
});

test('one that fails is over too', async () => {
  const submissions = new Submissions(20);
  const failing = submissions.send({ agent, revision: 1, id: 'a' }, () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(await submissions.send({ agent, revision: 1, id: 'a' }, done)).toBe('taken');
});

test('[inv-19] a workspace sends so many different ones for what it is asked, and the same again as often as it likes', async () => {
  const submissions = new Submissions(3);
  const send = (id: string, revision = 1) => submissions.send({ agent, revision, id }, done);
  for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) await send(id);
  await expect(send('d')).rejects.toEqual(refused('limit'));
  expect(await send('a'), 'what was sent before is still answered').toBe('taken');
  expect(await send('d', 2), 'the next thing that it is asked is another').toBe('taken');
});
