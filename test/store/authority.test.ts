import { beforeAll, expect, test } from 'vitest';
import type { StoreConnection } from '../../activities/store/connect.ts';
import type { ControlStore, GatewayStore } from '../../activities/store/port.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { PairHead, PairRoles } from '../../schemas/pair.ts';
import { pollUntil } from '../support/poll.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { randomHex, unsignedEntry } from '../support/task-fixtures.ts';

describeStores('authority in the store', ({ program }) => {
  const stage = useStoreStage(program);
  let gateway: GatewayStore;
  let control: ControlStore;
  let gatewayConnection: StoreConnection;
  let controlConnection: StoreConnection;

  beforeAll(() => {
    ({ gateway, control, gatewayConnection, controlConnection } = stage());
  });

  const credential = async (overrides: Partial<CredentialRecord> = {}): Promise<CredentialRecord> => ({
    schema: 'portcullis/credential/v1',
    id: randomHex(),
    tenant: 'local',
    pair: 'T-1',
    role: 'forge',
    use: 'executor',
    workspace: 'ws-1',
    workspaceGeneration: 1,
    execution: 'e1',
    expiresAt: (await control.now()) + 60_000,
    state: 'active',
    ...overrides,
  });
  const code = (record: CredentialRecord, expiresAt = record.expiresAt) => ({
    codeHex: randomHex() + randomHex(),
    record: { schema: 'portcullis/claim-code/v1', credentialId: record.id, expiresAt, usedAt: null } as const,
  });
  const epoch = async () => Number(await controlConnection.run((redis) => redis.get(keysOf('local').authorityEpoch)));
  const invalid = { code: 'claim_code_invalid' };

  test('[inv-08] a claim code is good once, also when ten ask at once', async () => {
    const record = await credential();
    const offer = code(record);
    await control.writeCredential(record, offer);
    const claims = await Promise.allSettled(
      Array.from({ length: 10 }, () => gateway.consumeClaimCode('local', offer.codeHex)),
    );
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(gateway.consumeClaimCode('local', offer.codeHex)).rejects.toMatchObject(invalid);
    await control.writeCredential(record, offer);
    await expect(gateway.consumeClaimCode('local', offer.codeHex)).rejects.toMatchObject(invalid);
  });

  test('a claim code expires by the clock of the store', async () => {
    const record = await credential();
    const offer = code(record, (await control.now()) + 150);
    await control.writeCredential(record, offer);
    await pollUntil(async () => (await control.now()) > offer.record.expiresAt, { what: 'the expiry' });
    await expect(gateway.consumeClaimCode('local', offer.codeHex)).rejects.toMatchObject(invalid);
  });

  test('a code is refused when it is unknown, of another tenant, or of a revoked or expired credential', async () => {
    const revoked = await credential();
    const expired = await credential({ expiresAt: 1_000 + (await control.now()) - 2_000 });
    const live = await credential();
    const offers = [code(revoked), code(expired, (await control.now()) + 60_000), code(live)] as const;
    await control.writeCredential(revoked, offers[0]);
    await control.writeCredential(expired, offers[1]);
    await control.writeCredential(live, offers[2]);
    await control.revokeCredential('local', revoked.id);
    await expect(gateway.consumeClaimCode('local', offers[0].codeHex)).rejects.toMatchObject(invalid);
    await expect(gateway.consumeClaimCode('local', offers[1].codeHex)).rejects.toMatchObject(invalid);
    await expect(gateway.consumeClaimCode('acme', offers[2].codeHex)).rejects.toMatchObject(invalid);
    await expect(gateway.consumeClaimCode('local', randomHex())).rejects.toMatchObject(invalid);
    expect(await gateway.consumeClaimCode('local', offers[2].codeHex)).toEqual(live);
  });

  test('revoking is a state that raises the epoch once and that no later write undoes', async () => {
    const record = await credential();
    await control.writeCredential(record, null);
    const before = await epoch();
    await control.revokeCredential('local', record.id);
    await control.revokeCredential('local', record.id);
    expect(await epoch()).toBe(before + 1);
    await expect(control.writeCredential(record, null)).rejects.toMatchObject({ code: 'state_conflict' });
    expect(await gateway.readCredential('local', record.id)).toEqual({ ...record, state: 'revoked' });
    await expect(control.revokeCredential('local', 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[inv-18] a credential whose workspace has ended is refused as well, and no landing beside it takes that for an incident', async () => {
    const record = await credential();
    await control.writeCredential(record, null);
    const before = await epoch();
    await control.retireCredential('local', record.id);
    expect(await epoch()).toBe(before);
    expect(await gateway.readCredential('local', record.id)).toEqual({ ...record, state: 'revoked' });
  });

  test("every credential of a pair is in the pair's set, an operator's in none", async () => {
    const records = [await credential({ pair: 'T-9' }), await credential({ pair: 'T-9', role: 'sentinel' })];
    for (const record of records) await control.writeCredential(record, code(record));
    await control.writeCredential(await credential({ pair: '', use: 'operator', role: 'operator' }), null);
    expect((await control.pairCredentials('local', 'T-9')).toSorted()).toEqual(records.map(({ id }) => id).toSorted());
    expect(await control.pairCredentials('local', 'T-10')).toEqual([]);
  });

  test('a kill switch raises the epoch of its tenant', async () => {
    const before = await epoch();
    await control.writeKillSwitch('local', {
      schema: 'portcullis/kill-switch/v1',
      on: false,
      reason: 'over',
      by: 'operator',
      at: 1,
    });
    expect(await epoch()).toBe(before + 1);
  });

  test('role map and head are read as they were written', async () => {
    const roles: PairRoles = {
      schema: 'portcullis/pair-roles/v1',
      pair: 'T-1',
      roles: ['forge', 'sentinel'],
      routing: { default: 'forge', permitted: ['forge'] },
      workspaces: { forge: { name: 'ws-1', generation: 1 } },
      baseBranch: 'main',
    };
    const head: PairHead = {
      schema: 'portcullis/pair-head/v1',
      pair: 'T-1',
      headSha: 'a'.repeat(40),
      baseSha: null,
      execution: 'e1',
      generation: 1,
    };
    await control.writeRoles('local', roles);
    await control.writeHead('local', head);
    expect(await gateway.readRoles('local', 'T-1')).toEqual(roles);
    expect(await gateway.readHead('local', 'T-1')).toEqual(head);
    expect(await gateway.readRoles('acme', 'T-1')).toBeNull();
  });

  test('[inv-19] a record that is not what its schema says is refused, never guessed', async () => {
    const key = keysOf('local').roles('T-2');
    for (const text of ['', '{}', '[]', '{"schema":"portcullis/pair-roles/v2"}', 'null', '{"pair":']) {
      await controlConnection.run((redis) => redis.set(key, text));
      await expect(gateway.readRoles('local', 'T-2')).rejects.toMatchObject({ code: 'record_unreadable' });
    }
  });

  test('a refusal keeps at most 256 bytes of what was sent, whole characters only', async () => {
    const rejection = { at: 1, pair: 'T-1', principal: 'p', reason: 'schema', input: 'é'.repeat(1_000) };
    await gateway.recordRejection('local', rejection);
    const entries = await gatewayConnection.run((redis) => redis.xrange(keysOf('local').rejected, '-', '+'));
    const stored: unknown = JSON.parse(entries.at(-1)?.[1][1] ?? '');
    expect(stored).toMatchObject({ reason: 'schema', input: 'é'.repeat(128) });
  });

  test('the audit chain refuses an entry that does not follow, and one beside the chain', async () => {
    await control.appendAudit('acme', unsignedEntry('acme', 'pair_opened', {}));
    const stale = unsignedEntry('acme', 'pair_opened', {});
    await expect(control.appendAudit('acme', () => stale({ n: 7, digest: null }))).rejects.toMatchObject({
      code: 'internal',
    });
    await expect(control.appendAudit('acme', unsignedEntry('local', 'pair_opened', {}))).rejects.toMatchObject({
      code: 'internal',
    });
    expect((await control.readAuditHead('acme')).n).toBe(1);
    // A head that was set back does not let an entry be written over.
    await controlConnection.run((redis) => redis.setnx(keysOf('other').auditEntry(1), 'x'));
    await expect(control.appendAudit('other', unsignedEntry('other', 'pair_opened', {}))).rejects.toMatchObject({
      code: 'record_unreadable',
    });
  });

  test('[inv-08] what happens once is entered once, however often and by how many at once it is said', async () => {
    const minted = (id: string) => unsignedEntry('acme', 'token_minted', { approval: id });
    const { n } = await control.readAuditHead('acme');
    await Promise.all(Array.from({ length: 8 }, () => control.appendAuditOnce('acme', minted('a'))));
    await control.appendAudit('acme', unsignedEntry('acme', 'pair_opened', {}));
    await control.appendAuditOnce('acme', minted('a'));
    expect((await control.readAuditHead('acme')).n).toBe(n + 2);
    await control.appendAuditOnce('acme', minted('b'));
    await control.appendAuditOnce('acme', unsignedEntry('acme', 'token_consumed', { approval: 'a' }));
    expect((await control.readAuditHead('acme')).n).toBe(n + 4);
  });

  test.each(['1', '9999', 'x'])(
    '[inv-02] a mark (%s) that was put there beforehand keeps nothing out unseen',
    async (number) => {
      const candidate = `candidate-${number}`;
      const entry = unsignedEntry('acme', 'merged', { candidate: 'other' });
      await control.appendAuditOnce('acme', entry);
      const { entry: said } = await entry({ n: 0, digest: null });
      const { event, writer } = said;
      const other = { event, refs: { candidate }, writer };
      const mark = keysOf('acme').auditMark(digestHex(contentDigest(Buffer.from(canonicalText(other)))));
      await controlConnection.run((redis) => redis.setnx(mark, number));
      const entering = control.appendAuditOnce('acme', unsignedEntry('acme', 'merged', { candidate }));
      await expect(entering).rejects.toMatchObject({ code: 'record_unreadable' });
    },
  );

  test('the share of memory in use is a fraction', async () => {
    const use = await gateway.memoryUse();
    expect(use).toBeGreaterThan(0);
    expect(use).toBeLessThan(0.8);
  });
});
