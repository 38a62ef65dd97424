/** What an identity is and may do, over the answers of a real server. */
import { afterEach, expect, test } from 'vitest';
import { coderIdentity } from '../../activities/coder/identity.ts';
import { as, type Exchange, recorded } from './recordings.ts';
import { type Replay, startReplay } from './replay-server.ts';
import { failing, TOKEN } from './stage.ts';

const RESOURCE = 'a2966767-8d91-480e-8a9b-c475ef784e4c';

const open: Replay[] = [];
afterEach(async () => {
  const replays = open.splice(0);
  await Promise.all(replays.map((replay) => replay.close()));
  expect(replays.flatMap(({ unscripted }) => unscripted)).toEqual([]);
});

async function stage(script: readonly Exchange[]) {
  const replay = await startReplay(script);
  open.push(replay);
  return coderIdentity({ url: replay.url, token: TOKEN });
}

test('an identity tells its user, its roles and how long its tokens may live', async () => {
  const identity = await stage([recorded('00', 4), recorded('00', 7), recorded('00', 5)]);
  expect(await identity.user()).toMatchObject({ username: 'operator', roles: [{ name: 'owner' }] });
  expect(await identity.longestTokenLifeMs()).toBe(168 * 3_600_000);
  expect(await identity.organization('default')).toMatchObject({ is_default: true });
});

test('no scope for chats or audit can be given', async () => {
  const identity = await stage([recorded('00', 6)]);
  const scopes = await identity.scopes();
  expect(scopes).toContain('workspace:create');
  expect(scopes.filter((scope) => /^(chat|audit_log):/.test(scope))).toEqual([]);
});

test('a token is made once; its name cannot be taken twice', async () => {
  const identity = await stage([recorded('00', 9), recorded('00', 12)]);
  const token = { name: 'narrow', lifeMs: 3_600_000, scopes: ['workspace:read'] };
  expect(await identity.createToken(token)).not.toBe('');
  await expect(identity.createToken(token)).rejects.toEqual(failing('coder_conflict', { fields: 'name' }));
});

test('the audit of Coder is empty without a licence, and a row is joined on its resource', async () => {
  const identity = await stage([recorded('08', 3), recorded('08', 8)]);
  expect(await identity.audit(RESOURCE, 5)).toEqual({ audit_logs: [], count: 0 });
  const { audit_logs } = await identity.audit(RESOURCE, 2);
  expect(audit_logs).toMatchObject([{ resource_id: RESOURCE, action: 'create' }]);
});

test('a queue that holds nothing may be null', async () => {
  const queue = as({ ...recorded('00', 5), body: null }, 'GET', '/api/v2/organizations/coder/provisionerjobs');
  const identity = await stage([queue]);
  expect(await identity.queue('coder')).toEqual([]);
});
