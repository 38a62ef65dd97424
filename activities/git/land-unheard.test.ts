/** Landings that go wrong after, or perhaps after, the branch moved: never called not landed, never called undisturbed. */
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { portcullisError } from '../../schemas/errors.ts';
import type { LandRequest } from '../../schemas/git/activities.ts';
import { branchRef } from '../../schemas/git/refs.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { landRequest, landWorld } from '../../test/support/landing.ts';
import { makeCandidate } from './candidate.ts';
import { commitAt } from './commits.ts';
import { SETTLING_MS } from './land-sent.ts';
import { land } from './land.ts';
import { checkedRemote, pushRemote } from './remote.ts';

let stage: GitStage;
/** Made once; each test works on copies of its own. */
let seeds: { readonly own: string; readonly remote: string };
let base: string;
let candidate: string;
let own: string;
let remote: string;

beforeAll(async () => {
  stage = openGitStage();
  const source = stage.checkout('source');
  base = stage.run(source, 'rev-parse', 'HEAD');
  stage.run(source, 'checkout', '--quiet', '-b', 'portcullis/T-1');
  const head = stage.commit(source, { 'b.txt': 'mine\n' });
  seeds = { own: stage.own('T-1', source), remote: join(stage.root, 'seed.git') };
  stage.run(stage.root, 'clone', '--quiet', '--bare', '--branch', 'main', '--single-branch', source, seeds.remote);
  const made = await makeCandidate(seeds.own, { base, head, message: 'T-1', squash: true, at: 1_700_000_000_000 });
  if (made.kind !== 'candidate') throw new Error(`no candidate: ${made.kind}`);
  candidate = made.commit;
});
afterAll(() => stage.close());

beforeEach(() => {
  const directory = mkdtempSync(join(stage.root, 'test-'));
  [own, remote] = [join(directory, 'own.git'), join(directory, 'forge.git')];
  cpSync(seeds.own, own, { recursive: true });
  cpSync(seeds.remote, remote, { recursive: true });
});

const world = (change: Parameters<typeof landWorld>[1] = {}) => landWorld(stage.root, change).needs;
const request = (over: Partial<LandRequest> = {}) => landRequest({ expectedOld: base, candidate, ...over });
const unreadable = () => Promise.reject(portcullisError('record_unreadable', { record: 'decision', reason: 'x' }));
const away = () => Promise.reject(portcullisError('store_unavailable', { reason: 'x' }));

describe('[inv-18] a branch that moved', () => {
  test('has moved, also when our own copy of it cannot follow', async () => {
    writeFileSync(join(own, 'refs', 'heads', 'main.lock'), '');
    expect(await land(own, world(), request({ remote }))).toMatchObject({ outcome: 'landed', incident: false });
    // Nor when the next attempt finds it there.
    expect(await land(own, world(), request({ remote }))).toMatchObject({ outcome: 'landed', epoch: null });
  });

  test('is an incident, and not one that stayed, when what permitted it cannot be read any more', async () => {
    await land(own, world(), request());
    expect(await land(own, world({ mayLand: unreadable }), request())).toMatchObject({
      ...{ outcome: 'landed', incident: true },
    });
    // While nobody can tell, it is asked again.
    await expect(land(own, world({ mayLand: away }), request())).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test.each([
    ['the kill switch is on', { state: 'killed', epoch: 3, reason: 'drill' }, 3],
    [
      'authority was withdrawn since the intent, and something else permits it now',
      { state: 'current', epoch: 4, reason: '' },
      4,
    ],
  ] as const)('by an attempt that nobody heard is an incident when %s', async (_, standing, epoch) => {
    await land(own, world(), request());
    const mayLand = () => Promise.resolve({ authorises: true, reason: '', epoch });
    const answer = await land(own, world({ check: () => standing, mayLand }), request());
    expect(answer).toMatchObject({ outcome: 'landed', commit: candidate, incident: true });
    // As it was at the intent, it is none.
    expect(await land(own, world(), request())).toMatchObject({ outcome: 'landed', incident: false });
  });
});

describe('[inv-18] a branch that nobody can read back', () => {
  test('in our own repository is not one that somebody moved', async () => {
    const gone = `${own}.away`;
    const mayLand = () => {
      renameSync(own, gone);
      return Promise.resolve({ authorises: true, reason: '', epoch: 3 });
    };
    await expect(land(own, world({ mayLand }), request())).rejects.toMatchObject({ code: 'repository_invalid' });
    await expect(commitAt(own, branchRef('main'))).rejects.toMatchObject({ code: 'repository_invalid' });
    renameSync(gone, own);
    expect(await land(own, world(), request())).toMatchObject({ outcome: 'landed' });
  });

  test('and one that a push without an answer left where it was, did not say no', async () => {
    // Its receiving side ends without a word.
    stage.run(remote, 'config', 'receive.unpackLimit', 'none');
    const answer = land(own, world(), request({ remote }));
    await expect(answer).rejects.toMatchObject({ code: 'remote_unavailable' });
    stage.run(remote, 'config', '--unset', 'receive.unpackLimit');
    expect(await land(own, world(), request({ remote }))).toMatchObject({ outcome: 'landed' });
  });
});

describe('[inv-18] what was sent to a remote and not answered', () => {
  const killed = () => world({ check: () => ({ state: 'killed', epoch: 3, reason: 'drill' }) });
  const denied = () => world({ mayLand: () => Promise.resolve({ authorises: false, reason: 'revoked', epoch: 3 }) });
  const landing = (needs: ReturnType<typeof world>) => land(own, needs, request({ remote }));
  const arrive = () => stage.run(remote, 'update-ref', branchRef('main'), candidate, base);

  beforeEach(async () => {
    // It has the candidate, and its receiving side ends without a word.
    stage.run(own, 'push', '--quiet', remote, `${candidate}:refs/heads/candidate`);
    stage.run(remote, 'config', 'receive.unpackLimit', 'none');
    await expect(landing(world())).rejects.toMatchObject({ code: 'remote_unavailable' });
    stage.run(remote, 'config', '--unset', 'receive.unpackLimit');
  });

  test.each([
    ['the kill switch is on', killed],
    ['nothing permits it any more', denied],
  ])('may still arrive, so that it is no refusal yet when %s, and an incident when it did', async (_, needs) => {
    await expect(landing(needs())).rejects.toMatchObject({ code: 'remote_unavailable' });
    // Nor after an attempt that sent nothing.
    await expect(landing(needs())).rejects.toMatchObject({ code: 'remote_unavailable' });
    arrive();
    expect(await landing(needs())).toMatchObject({ outcome: 'landed', incident: true });
  });

  test('nor when the remote says no to what is sent after it', async () => {
    const lock = join(remote, 'refs', 'heads', 'main.lock');
    writeFileSync(lock, '');
    await expect(landing(world())).rejects.toMatchObject({ code: 'remote_unavailable' });
    rmSync(lock);
    arrive();
    expect(await landing(world())).toMatchObject({ outcome: 'landed' });
  });

  test('does not arrive any more once it has had its time', async () => {
    const marks = join(own, 'portcullis-sent', candidate);
    const long = (Date.now() - SETTLING_MS) / 1000 - 1;
    for (const name of readdirSync(marks)) utimesSync(join(marks, name), long, long);
    expect(await landing(killed())).toMatchObject({ outcome: 'refused', by: 'authority' });
    expect(readdirSync(marks)).toEqual([]);
  });
});

test('[inv-18] what git holds back from a branch that moved is no refusal of the remote', async () => {
  const other = stage.run(remote, 'commit-tree', '-p', base, '-m', 'theirs', `${base}^{tree}`);
  stage.run(remote, 'update-ref', branchRef('main'), other);
  const to = checkedRemote(world().remotes, remote);
  const answer = await pushRemote(own, to, 'main', { from: base, to: candidate });
  expect(answer).toMatchObject({ said: 'unknown', complaint: expect.stringContaining('stale info') as string });
});

test('[inv-01] before anything moved, what cannot be read authorises nothing', async () => {
  expect(await land(own, world({ mayLand: unreadable }), request())).toMatchObject({
    ...{ outcome: 'refused', by: 'authority', reason: expect.stringContaining('record_unreadable') as string },
  });
  await expect(land(own, world({ mayLand: away }), request())).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(stage.run(own, 'rev-parse', branchRef('main'))).toBe(base);
});
