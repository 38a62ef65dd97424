/** Landing on real branches, here and on a remote, with a lease and an authority that a test sets. */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LandRequest } from '../../schemas/git/activities.ts';
import { branchRef } from '../../schemas/git/refs.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { landRequest, landWorld } from '../../test/support/landing.ts';
import { fetchBase, mirrorBranch } from './base.ts';
import { makeCandidate } from './candidate.ts';
import { land } from './land.ts';
import { checkedRemote } from './remote.ts';

let stage: GitStage;
/** Made once; each test works on copies of its own. */
let seeds: { readonly own: string; readonly remote: string };
let base: string;
let head: string;
let candidate: string;
let own: string;
let remote: string;

beforeAll(async () => {
  stage = openGitStage();
  const source = stage.checkout('source');
  base = stage.run(source, 'rev-parse', 'HEAD');
  stage.run(source, 'checkout', '--quiet', '-b', 'portcullis/T-1');
  head = stage.commit(source, { 'b.txt': 'mine\n' });
  seeds = { own: stage.own('T-1', source), remote: join(stage.root, 'seed.git') };
  stage.run(stage.root, 'clone', '--quiet', '--bare', '--branch', 'main', '--single-branch', source, seeds.remote);
  own = seeds.own;
  candidate = await made(base);
});
afterAll(() => stage.close());

beforeEach(() => {
  const directory = mkdtempSync(join(stage.root, 'test-'));
  [own, remote] = [join(directory, 'own.git'), join(directory, 'forge.git')];
  cpSync(seeds.own, own, { recursive: true });
  cpSync(seeds.remote, remote, { recursive: true });
});

async function made(on: string): Promise<string> {
  const answer = await makeCandidate(own, { base: on, head, message: 'T-1', squash: true, at: 1_700_000_000_000 });
  if (answer.kind !== 'candidate') throw new Error(`no candidate: ${answer.kind}`);
  return answer.commit;
}

const world = (change: Parameters<typeof landWorld>[1] = {}) => landWorld(stage.root, change);
const request = (over: Partial<LandRequest> = {}) => landRequest({ expectedOld: base, candidate, ...over });

const at = (repository: string, branch = 'main') => stage.run(repository, 'rev-parse', branchRef(branch));

/** Somebody else's commit on the branch. */
function moveBase(repository: string): string {
  const other = stage.run(repository, 'commit-tree', '-p', base, '-m', 'theirs', `${base}^{tree}`);
  stage.run(repository, 'update-ref', branchRef('main'), other);
  return other;
}

describe.each([
  ['in the pair’s own repository', () => null, () => own],
  ['on a remote', () => remote, () => remote],
])('landing %s', (_, name, where) => {
  test('moves the branch from the judged base to the judged candidate, once', async () => {
    const { needs, released } = world();
    expect(await land(own, needs, request({ remote: name() }))).toEqual({
      ...{ outcome: 'landed', commit: candidate, fencing: 7, epoch: { before: 3, after: 3 }, incident: false },
    });
    expect([at(where()), at(own)]).toEqual([candidate, candidate]);
    expect(released).toHaveLength(1);
    // The same step again, its first answer lost.
    expect(await land(own, needs, request({ remote: name() }))).toMatchObject({ outcome: 'landed', epoch: null });
  });

  test('loses when the base moved, and says to where', async () => {
    const other = moveBase(where());
    expect(await land(own, world().needs, request({ remote: name() }))).toEqual({ outcome: 'base_moved', now: other });
    expect(at(where())).toBe(other);
  });

  test('loses when the base moves after it was looked at', async () => {
    let other = '';
    const mayLand = () => {
      other = moveBase(where());
      return Promise.resolve({ authorises: true, reason: '', epoch: 3 });
    };
    const { needs } = world({ mayLand });
    expect(await land(own, needs, request({ remote: name() }))).toEqual({ outcome: 'base_moved', now: other });
  });

  test('counts as done when somebody built on it before the answer was heard', async () => {
    const { needs } = world();
    await land(own, needs, request({ remote: name() }));
    const next = stage.run(where(), 'commit-tree', '-p', candidate, '-m', 'next', `${candidate}^{tree}`);
    stage.run(where(), 'update-ref', branchRef('main'), next);
    expect(await land(own, needs, request({ remote: name() }))).toMatchObject({ outcome: 'landed', commit: candidate });
    expect(at(where())).toBe(next);
  });

  test('[inv-01] does not happen when the decision does not apply, nor under a kill switch', async () => {
    const no = world({ mayLand: () => Promise.resolve({ authorises: false, reason: 'revoked', epoch: 3 }) });
    const killed = world({ check: () => ({ state: 'killed', epoch: 3, reason: 'stop' }) });
    for (const { needs } of [no, killed]) {
      expect(await land(own, needs, request({ remote: name() }))).toMatchObject({
        outcome: 'refused',
        by: 'authority',
      });
    }
    expect(at(where())).toBe(base);
  });

  test('does not happen without the lease, or once another attempt has it', async () => {
    const held = world({ take: { kind: 'held', holder: 'ticket/local/T-2', leftMs: 12 } });
    const lost = world({ check: () => ({ state: 'lost', epoch: 3, reason: '' }) });
    expect(await land(own, held.needs, request({ remote: name() }))).toEqual({ outcome: 'busy', retryAfterMs: 12 });
    expect(await land(own, lost.needs, request({ remote: name() }))).toMatchObject({ outcome: 'busy' });
    expect(at(where())).toBe(base);
  });

  test('asks again when authority moved under its reading, and is an incident when it moved under the landing', async () => {
    const restless = world({ check: (n) => ({ state: 'current', epoch: n + 3, reason: '' }) });
    expect(await land(own, restless.needs, request({ remote: name() }))).toMatchObject({ outcome: 'busy' });
    expect(at(where())).toBe(base);
    const after = world({ check: (n) => ({ state: 'current', epoch: n === 1 ? 3 : 4, reason: '' }) });
    expect(await land(own, after.needs, request({ remote: name() }))).toMatchObject({
      outcome: 'landed',
      incident: true,
    });
  });

  test('[inv-03] takes no commit that is not a candidate made on this base', async () => {
    const { needs } = world();
    const forged = stage.run(own, 'commit-tree', '-p', base, '-m', 'forged', `${head}^{tree}`);
    for (const wrong of [head, forged]) {
      const answer = await land(own, needs, request({ remote: name(), candidate: wrong }));
      expect(answer).toMatchObject({ outcome: 'refused', by: 'candidate' });
    }
    const other = moveBase(where());
    const answer = await land(own, needs, request({ remote: name(), expectedOld: other }));
    expect(answer).toMatchObject({ outcome: 'refused', by: 'candidate' });
    expect(at(where())).toBe(other);
  });
});

describe('a remote', () => {
  test('says no, and the branch stays', async () => {
    writeFileSync(join(remote, 'refs', 'heads', 'main.lock'), '');
    const answer = await land(own, world().needs, request({ remote }));
    expect(answer).toMatchObject({ outcome: 'refused', by: 'remote' });
    expect(at(remote)).toBe(base);
  });

  test('whose answer is lost is read back when the step is done again', async () => {
    let away = false;
    const gone = `${remote}.away`;
    const { rename } = await import('node:fs/promises');
    const { needs } = world({
      check: () => ({ state: 'current', epoch: 3, reason: '' }),
      mayLand: async () => {
        await rename(remote, gone);
        away = true;
        return { authorises: true, reason: '', epoch: 3 };
      },
    });
    await expect(land(own, needs, request({ remote }))).rejects.toMatchObject({ code: 'remote_unavailable' });
    expect(away).toBe(true);
    await rename(gone, remote);
    expect(await land(own, world().needs, request({ remote }))).toMatchObject({ outcome: 'landed' });
  });

  test('[inv-17] runs none of its hooks as the control plane', async () => {
    const marker = join(stage.root, 'ran');
    mkdirSync(join(remote, 'hooks'));
    for (const hook of ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction']) {
      writeFileSync(join(remote, 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`);
      chmodSync(join(remote, 'hooks', hook), 0o755);
    }
    expect(await land(own, world().needs, request({ remote }))).toMatchObject({ outcome: 'landed' });
    expect(existsSync(marker)).toBe(false);
  });

  test('gives its newest base, and takes a producer’s branch and no other', async () => {
    const { remotes } = world().needs;
    const other = moveBase(remote);
    expect(await fetchBase(own, remotes, { remote, branch: 'main', initial: null })).toBe(other);
    expect(at(own)).toBe(other);
    const fresh = join(stage.repositoriesDir, 'local', 'T-2.git');
    expect(await fetchBase(fresh, remotes, { remote, branch: 'main', initial: null })).toBe(other);
    await mirrorBranch(own, remotes, { remote, branch: 'portcullis/T-1', commit: head });
    expect(at(remote, 'portcullis/T-1')).toBe(head);
    const main = { remote, branch: 'main', commit: head };
    await expect(mirrorBranch(own, remotes, main)).rejects.toMatchObject({ code: 'remote_refused' });
    const missing = { remote, branch: 'missing', initial: null };
    await expect(fetchBase(own, remotes, missing)).rejects.toMatchObject({ code: 'not_found' });
    expect(await fetchBase(own, remotes, { remote: null, branch: 'next', initial: base })).toBe(base);
  });

  test.each([
    ...['ext::sh -c evil', '-u/x', 'git@host:path', 'http://host/x', 'git://host/x', '../forge.git', 'file://host/x'],
    ...[
      'https://user:secret@host/x',
      'https://host/../x',
      'https://host/a//b',
      'ssh://-oProxyCommand=x/y',
      'https://elsewhere/x',
    ],
    ...['ssh://git@host/team/x', '/etc', '/nowhere', 'https://host/team%2f..%2fx', 'https://host/team/x\nevil'],
  ])('[inv-19] called %j is refused', (name) => {
    const settings = { allowed: ['https://host/', 'ssh://git@host/team/'], credentialsFile: null, sshConfigFile: null };
    expect(() => checkedRemote(settings, name)).toThrow(expect.objectContaining({ code: 'remote_refused' }));
  });

  test('is one that the settings allow, whole or by what it is below; a link does not lead out', () => {
    mkdirSync(join(stage.root, 'allowed'));
    symlinkSync(remote, join(stage.root, 'allowed', 'out.git'));
    const allowed = ['https://host/team/', 'ssh://git@host/one.git', `${stage.root}/allowed/`];
    const settings = { allowed, credentialsFile: null, sshConfigFile: '/etc/portcullis/ssh' };
    expect(checkedRemote(settings, 'https://host/team/x.git')).toMatchObject({ protocol: 'https' });
    expect(checkedRemote(settings, 'ssh://git@host/one.git')).toMatchObject({ protocol: 'ssh' });
    for (const name of ['https://host/teams/x', 'ssh://git@host/one.git2', join(stage.root, 'allowed', 'out.git')]) {
      expect(() => checkedRemote(settings, name), name).toThrow(expect.objectContaining({ code: 'remote_refused' }));
    }
  });
});
