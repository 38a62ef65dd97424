/** Git over HTTP, and the health that anyone may ask for. Pushes are tried in `gateway/git/push.test.ts`. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { callSocket, type Answer, type Call } from './socket-call.ts';
import { openStage, type DoorStage } from './stage.ts';

const git = promisify(execFile);

let stage: DoorStage;
let gateway: RunningGateway;

const call = (path: string, what?: Call): Promise<Answer> => callSocket(gateway.socketPath, path, what);

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  gateway = await stage.gateway();
});
afterAll(() => stage.close());

describe('git', () => {
  const environment = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: '/nonexistent',
  };

  async function repository(pair: string): Promise<string> {
    const source = join(stage.directory, `source-${pair}`);
    mkdirSync(source, { recursive: true });
    const run = (...args: string[]) => git('git', ['-C', source, ...args], { env: environment });
    await run('init', '--quiet', '--initial-branch', 'main');
    writeFileSync(join(source, 'file'), `of ${pair}\n`);
    await run('add', '.');
    await run('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'first');
    const bare = join(stage.settings.repositoriesDir, 'local', `${pair}.git`);
    await git('git', ['clone', '--quiet', '--bare', source, bare], { env: environment });
    return (await run('rev-parse', 'HEAD')).stdout.trim();
  }

  function remote(pair: string): string {
    return `http://127.0.0.1:${gateway.port}${WORKSPACE_PATHS.repository('local', pair)}`;
  }

  function withBearer(bearer: string, ...args: string[]) {
    return git('git', ['-c', `http.extraHeader=Authorization: Bearer ${bearer}`, ...args], {
      env: { ...environment, GIT_TERMINAL_PROMPT: '0' },
    });
  }

  test("serves a commit of the executor's own pair, by its id", async () => {
    const head = await repository('git-own');
    const { bearer } = await stage.credential({ pair: 'git-own' });
    const own = join(stage.directory, 'git-own-clone.git');
    await git('git', ['init', '--quiet', '--bare', own], { env: environment });
    await withBearer(bearer, '--git-dir', own, 'fetch', '--quiet', '--depth', '1', remote('git-own'), head);
    const { stdout } = await git('git', ['--git-dir', own, 'show', `${head}:file`], { env: environment });
    expect(stdout).toBe('of git-own\n');
  });

  test("[inv-05] serves no other pair, nobody without a bearer, and takes no executor's push", async () => {
    await repository('git-a');
    await repository('git-b');
    const { bearer } = await stage.credential({ pair: 'git-a' });
    const agent = await stage.credential({ pair: 'git-a', use: 'agent', role: 'forge' });
    const info = (path: string, service: string, who?: string) =>
      call(`${path}/info/refs?service=${service}`, { method: 'GET', ...(who === undefined ? {} : { bearer: who }) });
    const [a, b] = [WORKSPACE_PATHS.repository('local', 'git-a'), WORKSPACE_PATHS.repository('local', 'git-b')];
    expect((await info(a, 'git-upload-pack', bearer)).status).toBe(200);
    expect((await info(b, 'git-upload-pack', bearer)).status).toBe(404);
    expect((await info(a, 'git-upload-pack', agent.bearer)).status).toBe(200);
    expect((await info(b, 'git-upload-pack', agent.bearer)).status).toBe(404);
    expect((await info(a, 'git-upload-pack')).status).toBe(401);
    expect((await info(a, 'git-receive-pack', bearer)).status).toBe(403);
    expect((await call(`${a}/git-receive-pack`, { bearer, body: '0000' })).status).toBe(400);
    expect((await call(`${a}/git-upload-archive`, { bearer, body: '0000' })).status).toBe(404);
    expect((await call(`${a}/HEAD`, { method: 'GET', bearer })).status).toBe(404);
    const escapes = [
      '/git/local/..%2f..%2fgit-b.git',
      '/git/local/%2e%2e.git',
      '/git/acme/git-a.git',
      '/git/local/git-a.git%2f..%2fgit-b.git',
    ];
    for (const path of escapes) expect((await info(path, 'git-upload-pack', bearer)).status, path).toBe(404);
    await expect(
      withBearer(bearer, '-C', join(stage.directory, 'source-git-a'), 'push', remote('git-a'), 'HEAD:evil'),
    ).rejects.toThrow();
  });
});

describe('a push', () => {
  test("of FORGE's agent moves its branch, by the pair's current execution only", async () => {
    const pair = 'git-push';
    const source = join(stage.directory, `source-${pair}`);
    mkdirSync(source, { recursive: true });
    const env = {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      HOME: '/nonexistent',
    };
    const run = (...args: string[]) => git('git', ['-C', source, ...args], { env });
    await run('init', '--quiet', '--initial-branch', 'main');
    await run('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--allow-empty', '-m', 'first');
    const bare = join(stage.settings.repositoriesDir, 'local', `${pair}.git`);
    await git('git', ['clone', '--quiet', '--bare', source, bare], { env });
    const headSha = (await run('rev-parse', 'HEAD')).stdout.trim();
    await stage.control.writeHead('local', {
      ...{ schema: 'portcullis/pair-head/v1', pair, headSha, baseSha: null, execution: 'e2', generation: 2 },
    });
    const push = async (execution: string) => {
      const { bearer } = await stage.credential({ pair, role: 'forge', use: 'agent', execution });
      const remote = `http://127.0.0.1:${gateway.port}${WORKSPACE_PATHS.repository('local', pair)}`;
      const header = `http.extraHeader=Authorization: Bearer ${bearer}`;
      await run('-c', header, 'push', '--quiet', remote, `HEAD:refs/heads/portcullis/${pair}`);
    };
    await expect(push('e1')).rejects.toThrow();
    await push('e2');
    const { stdout } = await git('git', ['--git-dir', bare, 'rev-parse', `portcullis/${pair}`], { env });
    expect(stdout.trim()).toBe(headSha);
  });
});

describe('health', () => {
  test('is said on the port and on the socket, with what is missing', async () => {
    expect((await fetch(`http://127.0.0.1:${gateway.port}/healthz`)).status).toBe(200);
    const ready = await call('/readyz', { method: 'GET' });
    expect(JSON.parse(ready.text)).toEqual({ ready: true, missing: [] });
    expect((await call('/metrics', { method: 'GET' })).text).toContain('portcullis_door_calls_total');
    const blind = await stage.gateway({ temporalAddress: '127.0.0.1:1' });
    const missing = await fetch(`http://127.0.0.1:${blind.port}/readyz`);
    expect([missing.status, await missing.json()]).toEqual([503, { ready: false, missing: ['temporal'] }]);
  });

  test('comes back in the same place after a restart', async () => {
    const socketPath = join(stage.directory, 'again.sock');
    const first = await stage.gateway({ socketPath });
    await first.close();
    const second = await stage.gateway({ socketPath, port: first.port });
    expect((await fetch(`http://127.0.0.1:${second.port}/healthz`)).status).toBe(200);
  });
});
