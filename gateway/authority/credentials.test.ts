import { describe, expect, test } from 'vitest';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { CredentialCache, CURRENT_MS, REMEMBERED_MS, type CredentialSource } from './credentials.ts';

const record: CredentialRecord = {
  schema: 'portcullis/credential/v1',
  id: 'c1',
  tenant: 'local',
  pair: 'T-1',
  role: 'forge',
  use: 'executor',
  workspace: 'ws-1',
  workspaceGeneration: 1,
  execution: 'e1',
  expiresAt: 2_000_000,
  state: 'active',
};

/** A store whose records, clock and presence a test sets. */
function source() {
  const state = { record: record as CredentialRecord | null, away: false, reads: 0 };
  const made: CredentialSource = {
    readCredential: () => {
      state.reads += 1;
      if (state.away) return Promise.reject(portcullisError('store_unavailable', { reason: 'test' }));
      return Promise.resolve(state.record);
    },
    now: () => Promise.resolve(1_000_000),
  };
  const clock = { ms: 5 };
  return { state, clock, cache: new CredentialCache(made, () => clock.ms) };
}

describe('a credential record', () => {
  test('is read again once it is a second old, and calls together read it once', async () => {
    const { state, clock, cache } = source();
    await Promise.all([cache.look('local', 'c1'), cache.look('local', 'c1')]);
    expect(state.reads).toBe(1);
    state.record = { ...record, state: 'revoked' };
    clock.ms += CURRENT_MS - 1;
    expect((await cache.look('local', 'c1')).record?.state).toBe('active');
    clock.ms += 1;
    expect((await cache.look('local', 'c1')).record?.state).toBe('revoked');
  });

  test('[inv-18] is remembered for a minute while the store is away, and says so', async () => {
    const { state, clock, cache } = source();
    await cache.look('local', 'c1');
    state.away = true;
    clock.ms += REMEMBERED_MS - 1;
    expect(await cache.look('local', 'c1')).toMatchObject({ current: false, now: 1_000_000 + REMEMBERED_MS - 1 });
    clock.ms += 1;
    await expect(cache.look('local', 'c1')).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('that was never read is not known', async () => {
    const { state, cache } = source();
    state.away = true;
    await expect(cache.look('local', 'c1')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
