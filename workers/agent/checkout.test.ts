/** The checkout of a workspace, by the real git in the real sandbox: what its agent left there, and where that is led. */
import { mkdirSync, readFileSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findOnPath } from '../../activities/executor/toolchain-search.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { makeCheckout } from './checkout.ts';
import { gitSettingsFile, remoteUrl } from './git-settings.ts';
import type { AgentGrant } from './grant.ts';
import type { HarnessSettings } from './settings.ts';

const GRANT: AgentGrant = {
  ...{ schema: 'portcullis/claim-grant/v1', bearer: 'b', tenant: 'local', pair: 'T-1', role: 'forge', workspace: 'w' },
  ...{ workspaceGeneration: 1, expiresAt: 1, executor: null },
};

let stage: GitStage;
let head: string;
let root: string;
let settings: HarnessSettings;
let sandbox: string;
let count = 0;

beforeAll(async () => {
  stage = openGitStage();
  const source = stage.checkout('source');
  head = stage.run(source, 'rev-parse', 'HEAD');
  stage.own('T-1', source);
  sandbox = (await findOnPath('bwrap', '/usr/local/bin:/usr/bin:/bin')) ?? '';
});
afterAll(() => stage.close());
beforeEach(() => {
  count += 1;
  root = join(stage.root, `workspace-${count}`);
  const at = (name: string) => join(root, name);
  for (const name of ['agent', 'executor', 'home']) mkdirSync(at(name), { recursive: true });
  writeFileSync(at('executor/grant.json'), 'the bearer of the executor');
  settings = {
    ...{ tenant: 'local', role: 'forge', gatewaySocket: '/nowhere', claimCodeFile: null },
    ...{ privateDirectory: at('agent'), home: at('home') },
    checkout: { directory: at('checkout'), head, branch: 'portcullis/T-1' },
    executor: { settingsFile: at('executor/settings.json'), privateDirectory: at('executor') },
    start: { delayMs: 0, exitCode: null },
  };
  const bare = join(stage.repositoriesDir, 'local', 'T-1.git');
  const lines = [`[url "file://${bare}"]`, `\tinsteadOf = ${remoteUrl(GRANT)}`, '[safe]', '\tdirectory = *', ''];
  writeFileSync(gitSettingsFile(settings.privateDirectory), lines.join('\n'));
});

async function make(): Promise<string> {
  const said: string[] = [];
  await makeCheckout({ settings, sandbox }, GRANT, (text) => said.push(text));
  return said.join('\n');
}

const checkout = (...names: string[]) => join(root, 'checkout', ...names);
const headOf = () => stage.run(checkout(), 'rev-parse', 'HEAD');

test('is at the commit that was named, on its branch, and what is there stays', async () => {
  expect(await make()).toContain(`checked out ${head.slice(0, 12)} on portcullis/T-1`);
  expect(headOf()).toBe(head);
  writeFileSync(checkout('unpushed'), 'kept');
  expect(await make()).toContain('the checkout is there');
  expect(readFileSync(checkout('unpushed'), 'utf8')).toBe('kept');
});

describe('[inv-17] a checkout whose agent made it unfinished', () => {
  /** What runs of it anywhere tells what it sees. */
  function thief(): string {
    const path = join(root, 'home', 'thief');
    const steal = `cat ${join(root, 'executor', 'grant.json')} >> ${join(root, 'home', 'stolen')} 2>/dev/null; exit 0`;
    writeFileSync(path, `#!/bin/sh\necho ran >> ${join(root, 'home', 'stolen')}\n${steal}\n`, { mode: 0o755 });
    return path;
  }
  const stolen = () => {
    const path = join(root, 'home', 'stolen');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };

  test('is made anew, and nothing that was left in it runs', async () => {
    await make();
    const path = thief();
    symlinkSync(path, checkout('.git', 'hooks', 'post-checkout'));
    symlinkSync(path, checkout('.git', 'hooks', 'reference-transaction'));
    stage.run(checkout(), 'config', 'core.fsmonitor', path);
    rmSync(checkout('.git', 'index'));
    expect(await make()).toContain('made anew');
    expect([headOf(), stolen()]).toEqual([head, '']);
  });

  test('runs what it can still bring about where the executor is not seen', async () => {
    const path = thief();
    const templates = join(root, 'home', 'templates', 'hooks');
    mkdirSync(templates, { recursive: true });
    symlinkSync(path, join(templates, 'post-checkout'));
    const file = gitSettingsFile(settings.privateDirectory);
    writeFileSync(file, `${readFileSync(file, 'utf8')}[init]\n\ttemplateDir = ${join(root, 'home', 'templates')}\n`);
    await make();
    expect([headOf(), stolen()]).toEqual([head, 'ran\n']);
  });

  test('leads nowhere by a link in its place', async () => {
    symlinkSync('executor', checkout());
    await make();
    expect(headOf()).toBe(head);
    expect(existsSync(join(root, 'executor', '.git'))).toBe(false);
    expect(existsSync(join(root, 'executor', 'grant.json'))).toBe(true);
  });
});
