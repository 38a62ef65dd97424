import { expect, test } from 'vitest';
import { keysOf } from '../../schemas/keys.ts';
import { requestDigest } from '../../schemas/verify/request.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { admissionOf, admitted, randomHex, resolvedRequest } from '../support/task-fixtures.ts';

describeStores('admission, refused or taken back,', ({ program }) => {
  const stage = useStoreStage(program);
  let pairs = 0;
  /** A pair of its own for each test. */
  const nextPair = () => `T-${(pairs += 1)}`;
  const view = (pair: string, request = resolvedRequest({ pair })) =>
    stage().gateway.viewClaim('local', pair, requestDigest(request));

  test.each([
    ['the tenant', 'local'],
    ['the installation', null],
  ])('the kill switch of %s refuses by its reason, joins what is there, and leaves nothing', async (_, tenant) => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const first = await admitted(gateway, { pair });
    const value = { schema: 'portcullis/kill-switch/v1', on: true, reason: 'drill', by: 'operator', at: 1 } as const;
    await control.writeKillSwitch(tenant, value);
    try {
      const refused = admissionOf(resolvedRequest({ pair, attempt: 2 }), await view(pair));
      expect(await gateway.admit(refused)).toEqual({ kind: 'kill_switch', reason: 'drill' });
      expect(await gateway.readRequest('local', refused.accepted.taskId)).toBeNull();
      expect(await gateway.readKillSwitch('local')).toEqual(value);
      const repeated = await gateway.admit(first);
      expect(repeated).toMatchObject({ kind: 'joined', taskId: first.accepted.taskId });
    } finally {
      await control.writeKillSwitch(tenant, { ...value, on: false });
    }
    expect(await gateway.readKillSwitch('local')).toBeNull();
    await admitted(gateway, { pair, attempt: 2 });
  });

  test('[inv-19] a kill switch that cannot be read counts as on', async () => {
    const { gateway, controlConnection } = stage();
    const pair = nextPair();
    const request = resolvedRequest({ pair, tenant: 'other' });
    await controlConnection.run((redis) => redis.set(keysOf('other').killSwitch, '{"on":'));
    const claim = await gateway.viewClaim('other', pair, requestDigest(request));
    expect(await gateway.admit(admissionOf(request, claim))).toMatchObject({ kind: 'kill_switch' });
    await expect(gateway.readKillSwitch('other')).rejects.toMatchObject({ code: 'record_unreadable' });
  });

  test('a start that failed frees claim and message, and its task has ended', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const hash = randomHex();
    const admission = admissionOf(resolvedRequest({ pair }), await view(pair), hash);
    await gateway.admit(admission);
    await gateway.releaseClaim(admission.accepted, hash);
    expect(await gateway.readTask('local', admission.accepted.taskId)).toMatchObject({
      state: 'failed',
      outcome: 'failed_to_start',
    });
    const again = admissionOf(resolvedRequest({ pair }), await view(pair), hash);
    expect(await gateway.admit(again)).toMatchObject({ kind: 'accepted' });
    expect(again.n).toBe(2);
    await gateway.releaseClaim(admission.accepted, hash);
    expect(await gateway.readTask('local', again.accepted.taskId)).toMatchObject({ state: 'submitted' });
  });

  test('a start that somebody confirmed is not released', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const { accepted, message } = await admitted(gateway, { pair });
    await control.confirmStarted(accepted);
    await gateway.releaseClaim(accepted, message.hash);
    expect(await gateway.readTask('local', accepted.taskId)).toMatchObject({ state: 'submitted' });
    expect(await gateway.unconfirmedClaims('local', 0, 1000)).not.toContainEqual(accepted);
  });

  test('tasks are listed newest first and paged without a gap', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const ids: string[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      ids.unshift((await admitted(gateway, { pair, attempt })).accepted.taskId);
    }
    const seen: string[] = [];
    for (let before: number | null = null; ;) {
      const page = await gateway.listTasks('local', pair, { limit: 2, before });
      if (page.length === 0) break;
      seen.push(...page.map(({ taskId }) => taskId));
      before = page.at(-1)!.createdAt;
    }
    expect(seen).toEqual(ids);
  });
});
