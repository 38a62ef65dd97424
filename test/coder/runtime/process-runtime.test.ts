/** The runtime of the local Coder with real processes. The workspaces are shared: making one is what takes time. */
import { access, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { descendantsOf } from '../../../activities/executor/process-table.ts';
import { endLeftCompute, openProcessRuntime } from '../../../local/coder/runtime/process-runtime.ts';
import type { AgentEvent } from '../../../local/coder/runtime.ts';
import { processesWith } from '../../executor/support/processes.ts';
import { pollUntil } from '../../support/poll.ts';
import { openRuntimeStage, SILENT, type RuntimeStage } from './stage.ts';

let stage: RuntimeStage;
beforeAll(async () => {
  stage = await openRuntimeStage(inject('temporalAddress'));
  expect(await stage.runtime.apply(stage.start('forge', 'forge'), SILENT)).toEqual({ outcome: 'succeeded' });
  await stage.until('agent-forge', 'ready');
});
afterAll(() => stage.close());

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const logsOf = (agentId: string) =>
  stage.events.flatMap((event) => (event.agentId === agentId && event.event === 'log' ? [event.text] : [])).join('\n');

describe('a workspace that starts', () => {
  test('claims, clones, brings its executor to the door, and then is ready', () => {
    expect(stage.states('agent-forge')).toEqual(['connected', 'starting', 'ready']);
    const said = logsOf('agent-forge');
    expect(said).toContain('claimed: forge of T-1, generation 1');
    expect(said).toContain(`checked out ${stage.head.slice(0, 12)} on portcullis/T-1`);
    expect(said).toContain('executor: serving');
  });

  test.each([
    [
      'its start script ends with an error',
      'bad-exit',
      null,
      { startExit: 3 },
      ['connected', 'starting', 'start_error'],
    ],
    ['it is of another template', 'plain', null, {}, ['connected', 'starting', 'ready']],
    [
      'its harness is told to fail',
      'sentinel-exit',
      'sentinel',
      { startExit: 3 },
      ['connected', 'starting', 'start_error'],
    ],
  ] as const)('tells its lifecycle when %s', async (_, name, role, change, states) => {
    await stage.runtime.apply(stage.start(name, role, change), SILENT);
    await stage.until(`agent-${name}`, states[2]);
    expect(stage.states(`agent-${name}`)).toEqual(states);
    expect(await stage.runtime.destroy({ workspaceId: name, buildNumber: 2, run: '' }, SILENT)).toEqual({
      outcome: 'succeeded',
    });
  });

  test('[inv-17] rebuilt follows nothing that its agent left, and needs a claim code of its own', async () => {
    const start = stage.start('sentinel', 'sentinel');
    await stage.runtime.apply(start, SILENT);
    await stage.until('agent-sentinel', 'ready');
    const host = join(stage.directory, 'host');
    await mkdir(host, { mode: 0o755 });
    await writeFile(join(host, 'kept'), 'kept');
    const { outcome } = await stage.turn(
      'sentinel',
      `cd /; rm -rf /workspace/home; ln -s ${host} /workspace/home || exit 1; ! mv /workspace/agent /workspace/a`,
    );
    expect(outcome).toEqual({ outcome: 'answered' });
    // Not even what a turn cannot change is believed.
    const agent = join(stage.settings.directory, 'compute', 'sentinel', 'workspace', 'agent');
    await rm(agent, { recursive: true });
    await symlink(host, agent);
    const rebuilt = { ...start, buildNumber: 2, agent: { ...start.agent, id: 'agent-again' } };
    await stage.runtime.apply(rebuilt, SILENT);
    await stage.until('agent-again', 'start_error');
    expect(logsOf('agent-again')).toContain('start failed');
    expect((await stage.turn('sentinel', 'true')).outcome).toEqual({ outcome: 'no_agent' });
    // What the agent put in the place of its directories was not followed by whoever rebuilt them.
    const { mode, uid } = await stat(host);
    expect([mode & 0o777, uid, await readdir(host)]).toEqual([0o755, process.getuid?.(), ['kept']]);
  });
});

describe('a turn', () => {
  test('is a command in the checkout: what it prints is the message, what it says to the side is progress', async () => {
    const { outcome, messages } = await stage.turn('forge', 'echo working >&2; git log --format=%H; pwd');
    expect(outcome).toEqual({ outcome: 'answered' });
    expect(messages).toEqual([
      { role: 'tool', command: '/bin/sh', output: 'working', exitCode: 0 },
      { role: 'assistant', text: `${stage.head}\n/workspace/checkout` },
    ]);
  });

  test('that fails says how', async () => {
    const { outcome } = await stage.turn('forge', 'echo no model >&2; exit 4');
    expect(outcome).toMatchObject({ outcome: 'failed', kind: 'generic', retryable: false });
    expect(JSON.stringify(outcome)).toContain('ended with 4: no model');
  });

  test('leaves nothing behind that detached itself, and an interrupt ends it at once', async () => {
    await stage.turn('forge', '(setsid sleep 86453 &) ; true');
    expect(await processesWith('86453')).toEqual([]);
    const interrupt = new AbortController();
    const running = stage.turn('forge', '(setsid sleep 86454 &) ; sleep 86454', interrupt.signal);
    await pollUntil(async () => (await processesWith('86454')).length > 0, { what: 'the turn to run' });
    interrupt.abort();
    expect((await running).outcome).toEqual({ outcome: 'interrupted' });
    await pollUntil(async () => (await processesWith('86454')).length === 0, { what: 'what it started to be gone' });
  });

  test('pushes through the gateway, and has the commands of the harness', async () => {
    const { outcome, said } = await stage.turn(
      'forge',
      'set -e; echo x > x; git add x; git commit -qm x; git push -q origin HEAD; git ls-remote origin portcullis/T-1 | cut -f2; portcullis context',
    );
    expect(outcome, said).toEqual({ outcome: 'answered' });
    expect(said).toContain('refs/heads/portcullis/T-1');
    expect(said).toContain('"pair": "T-1"');
    expect(said).not.toContain('a-token-that-is-not-shown');
    expect([...stage.gateway.authorizations]).toContain(`Bearer ${stage.bearer('forge', 'agent')}`);
  });
});

describe('[inv-15] from inside a workspace', () => {
  test('a bearer is in no environment, no argv and no configuration of the checkout', async () => {
    const { said } = await stage.turn(
      'forge',
      'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; cat .git/config; git remote -v; env',
    );
    expect(said).toContain('portcullis://gateway/git/local/T-1.git');
    for (const use of ['agent', 'executor'] as const) expect(said).not.toContain(stage.bearer('forge', use));
    const [outermost] = await processesWith('--workspace=forge');
    const pids = await descendantsOf(outermost ?? 0);
    const seen = await Promise.all(
      pids.flatMap((pid) =>
        ['environ', 'cmdline'].map((leaf) => readFile(`/proc/${pid}/${leaf}`, 'utf8').catch(() => '')),
      ),
    );
    expect(seen.join('\n')).toContain('workers/executor/main');
    expect(seen.join('\n')).not.toMatch(/pc1\.local/);
  });

  test("the agent's turn sees nothing of what the executor keeps, and no process of it", async () => {
    const { said } = await stage.turn(
      'forge',
      'ls -A /workspace/executor; ls -d /proc/[0-9]* | wc -l; grep -c bearer /workspace/agent/grant.json',
    );
    const [processes, kept] = said.split('\n').map(Number);
    // The sandbox's first process, the shell, and the pipeline.
    expect(processes).toBeLessThan(8);
    expect(kept).toBe(1);
  });

  test('the rest of this machine does not exist', async () => {
    const paths = [stage.directory, process.cwd(), '/root', '/home', '/var', stage.settings.directory];
    const { said } = await stage.turn(
      'forge',
      `for p in ${paths.join(' ')}; do test -e $p && echo "there: $p"; done; ls /; cut -d: -f1 /proc/net/dev | tail -n +3`,
    );
    expect(said).not.toContain('there:');
    expect(said.trim().endsWith('lo')).toBe(true);
  });

  test('the channel of the server has no name, and is no descriptor of a turn', async () => {
    const { said } = await stage.turn('forge', 'find / -xdev -type s 2>/dev/null; ls /proc/$$/fd');
    expect(said.trim().split('\n')).toEqual(['0', '1', '2']);
  });
});

test('[inv-15] a harness that dies is started again from its own settings, and the checkout stays as it was', async () => {
  const change = [
    'echo unpushed > unpushed; cd /workspace/agent',
    'sed -i \'s#/workspace/executor"#/workspace/elsewhere"#\' settings.json',
    'echo {} > settings.json; ln -sf ../executor/grant.json grant.json; rm -rf gitconfig bin; mv /workspace/agent /workspace/a',
    'true',
  ];
  expect((await stage.turn('forge', change.join('\n'))).outcome).toEqual({ outcome: 'answered' });
  const [outermost] = await processesWith('--workspace=forge');
  const below = await descendantsOf(outermost ?? 0);
  const harness = await Promise.all(
    below.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('workers/agent/main') ? [pid] : [],
    ),
  );
  for (const pid of harness.flat()) process.kill(pid, 'SIGKILL');
  await pollUntil(() => stage.states('agent-forge').filter((state) => state === 'ready').length === 2, {
    what: 'the harness to be ready again',
    deadlineMs: 30_000,
  });
  const { said } = await stage.turn('forge', 'ls -A /workspace/executor; cat unpushed; portcullis context');
  expect(said).toMatch(/^unpushed\n\{/);
  expect(stage.states('agent-forge')).not.toContain('disconnected');
});

describe('compute', () => {
  test('outlives a server that is killed: the next one finds it, talks to it and tells what is gone', async () => {
    const events: AgentEvent[] = [];
    // The first runtime is left as a kill would leave it: nothing is closed.
    const next = await openProcessRuntime(stage.settings);
    const run = 'workspace/local/T-1/forge/1';
    await next.open(
      (event) => events.push(event),
      [
        { workspaceId: 'forge', agentId: 'agent-forge', run },
        { workspaceId: 'never-was', agentId: 'agent-lost', run },
      ],
    );
    expect(events).toContainEqual({ agentId: 'agent-forge', event: 'connected' });
    expect(events).toContainEqual({ agentId: 'agent-lost', event: 'disconnected' });
    await pollUntil(() => events.some((event) => event.event === 'lifecycle' && event.state === 'ready'), {
      what: 'the state that the harness has',
    });
    expect(events.filter(({ event }) => event === 'log')).toEqual([]);
    expect(await next.survivors()).toContainEqual({ run, workspaceId: 'forge' });
    const turn = {
      chatId: 'c',
      workspaceId: 'forge',
      model: 'm',
      attempt: 2,
      labels: {},
      prompt: 'echo back',
      history: [],
    };
    const said: unknown[] = [];
    await next.runTurn(turn, { signal: SILENT.signal, message: (message) => void said.push(message) });
    expect(said).toEqual([{ role: 'assistant', text: 'back' }]);
  });

  test('without an agent says nothing, is listed by its run, and a sweep ends it', async () => {
    const start = stage.start('silent', 'sentinel', { connects: 'never' });
    await stage.runtime.apply(start, SILENT);
    expect(stage.states('agent-silent')).toEqual([]);
    expect(await stage.runtime.survivors()).toContainEqual({ run: start.run, workspaceId: 'silent' });
    expect(await stage.runtime.sweep(start.run)).toBe(1);
    expect(await processesWith('--workspace=silent')).toEqual([]);
    expect(await isThere(join(stage.settings.directory, 'compute', 'silent'))).toBe(false);
    expect(await stage.runtime.sweep(start.run)).toBe(0);
  });

  test('of a build that was cancelled can stay, and a sweep finds it', async () => {
    const cancel = new AbortController();
    const start = stage.start('cancelled', null);
    const log = ({ text }: { readonly text: string }) => {
      if (text.startsWith('starting')) cancel.abort();
    };
    expect(await stage.runtime.apply(start, { signal: cancel.signal, log })).toMatchObject({ outcome: 'failed' });
    await pollUntil(
      async () => (await stage.runtime.survivors()).some(({ workspaceId }) => workspaceId === 'cancelled'),
      {
        what: 'the process that nobody asked for any more',
      },
    );
    expect(await stage.runtime.sweep(start.run)).toBe(1);
  });

  test('that is killed from outside is told as disconnected', async () => {
    await stage.runtime.apply(stage.start('killed', null), SILENT);
    await stage.until('agent-killed', 'ready');
    for (const pid of await processesWith('--workspace=killed')) process.kill(pid, 'SIGKILL');
    await stage.until('agent-killed', 'disconnected');
  });

  test('stops and keeps its directory, is destroyed and keeps nothing; both may be repeated', async () => {
    const end = { workspaceId: 'forge', buildNumber: 9, run: '' };
    const place = join(stage.settings.directory, 'compute', 'forge');
    const done = { outcome: 'succeeded' };
    expect([await stage.runtime.stop(end, SILENT), await stage.runtime.stop(end, SILENT)]).toEqual([done, done]);
    expect(await processesWith('--workspace=forge')).toEqual([]);
    expect(await isThere(join(place, 'workspace', 'checkout', '.git'))).toBe(true);
    expect((await stage.turn('forge', 'true')).outcome).toEqual({ outcome: 'no_agent' });
    expect([await stage.runtime.destroy(end, SILENT), await stage.runtime.destroy(end, SILENT)]).toEqual([done, done]);
    expect(await isThere(place)).toBe(false);
  });

  test('that anybody left is ended by its directory alone', async () => {
    await stage.runtime.apply(stage.start('left', null), SILENT);
    expect(await endLeftCompute(stage.settings.directory)).toBeGreaterThan(0);
    expect(await stage.runtime.survivors()).toEqual([]);
  });
});
