import { spawn } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchWorkspace } from '../../local/workspace/launch.ts';
import { readOnly, workspaceProgram, type WorkspaceProgram } from '../../local/workspace/program.ts';
import { openBench, TENANT, type Bench } from './support/bench.ts';
import { eventually, processesWith, sleepMarker } from './support/processes.ts';
import { openWorkspace } from './support/workspace.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

/** A workspace in which a script runs instead of the executor. */
async function scripted(name: string, script: string): Promise<WorkspaceProgram> {
  const { binds } = await workspaceProgram();
  const directory = join(bench.directory, `${name}-script`);
  await mkdir(directory);
  await writeFile(join(directory, 'script.sh'), script);
  return { binds: [...binds, readOnly(directory, '/opt/script')], argv: ['/bin/sh', '/opt/script/script.sh'] };
}

/** What a script says inside a workspace; it must end by writing `done`. */
async function inside(name: string, script: string): Promise<string> {
  const program = await scripted(name, `exec > /workspace/private/out 2>&1\n${script}\necho done\nexec sleep 1000\n`);
  const test = await openWorkspace(bench, name, { program });
  try {
    const read = () => readFile(join(test.directory, 'private', 'out'), 'utf8').catch(() => '');
    return await eventually(read, (text) => text.endsWith('done\n'));
  } finally {
    await test.close();
  }
}

describe('from inside a workspace', () => {
  it('[inv-15] what listens on this machine cannot be reached, and the socket of the gateway can', async () => {
    const server = createServer((socket) => socket.end('secret'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address !== 'string' ? address.port : 0;
    const tcp = `const s = require('net').connect(${port}, '127.0.0.1'); s.on('error', (e) => console.log('tcp', e.code)); s.on('data', (d) => console.log('tcp', String(d)));`;
    const unix = `const s = require('net').connect('/run/gateway/gateway.sock', () => { console.log('unix connected'); s.destroy(); }); s.on('error', (e) => console.log('unix', e.code));`;
    const said = await inside(
      'reach',
      `/opt/runtime/node -e "${tcp}"; /opt/runtime/node -e "${unix}"; cut -d: -f1 /proc/net/dev | tail -n +3`,
    );
    server.close();
    expect(said.split(/\n/).map((line) => line.trim())).toEqual([
      'tcp ECONNREFUSED',
      'unix connected',
      'lo',
      'done',
      '',
    ]);
  });

  it('[inv-15] the state of the stack and the rest of this machine do not exist', async () => {
    const state = join(bench.directory, '.portcullis');
    await mkdir(state);
    await writeFile(join(state, 'action-key.pem'), 'secret', { mode: 0o600 });
    const said = await inside(
      'state',
      [
        `for p in ${state} ${bench.directory} ${process.cwd()} /root /home /var /mnt /sys /boot; do test -e $p && echo "there: $p"; done`,
        'find / -name .portcullis -not -path "/proc/*" 2>/dev/null',
        'find / -maxdepth 1 | sort | tr "\\n" " "; echo; ls /opt/portcullis',
      ].join('\n'),
    );
    expect(said).not.toContain('there:');
    expect(said).not.toContain('.portcullis');
    expect(said).toContain('node_modules\npackage.json\npolicies\nschemas\nworkers\n');
  });

  it('[inv-15] one is nobody: no right, no way to one, and nothing of the system to write', async () => {
    const said = await inside(
      'rights',
      [
        'id -u; grep -E "^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Groups)" /proc/self/status',
        'for p in /x /usr/x /etc/x /opt/x /opt/portcullis/x /run/gateway/x /dev/x; do (echo > $p) 2>/dev/null && echo "wrote $p"; done',
        'grep -E "^(Cap(Prm|Eff)|NoNewPrivs)" /proc/1/status',
        'env | cut -d= -f1 | sort | tr "\\n" " "; echo',
        'ls -d /proc/[0-9]* | wc -l',
      ].join('\n'),
    );
    expect(Number(said.split('\n')[0])).toBeGreaterThan(0);
    expect([...said.matchAll(/^Cap\w+:\s+(\w+)$/gm)].map(([, bits]) => bits)).toEqual(
      Array(6).fill('0000000000000000'),
    );
    expect(said.match(/NoNewPrivs:\s+1/g)).toHaveLength(2);
    expect(said).not.toContain('wrote');
    expect(said).toContain('HOME LANG PATH PWD TMPDIR');
    expect(Number(said.split('\n').at(-3))).toBeLessThan(12);
  });

  it('[inv-14] a sandbox can be made, in which the limit on processes holds', async () => {
    const bwrap = [
      'bwrap --unshare-all --unshare-user --uid 1000 --gid 1000 --disable-userns --die-with-parent --cap-drop ALL',
      '--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev',
      '-- prlimit --nproc=20:20 -- sh -c',
    ].join(' ');
    const said = await inside(
      'nested',
      `${bwrap} 'i=0; while [ $i -lt 60 ]; do sleep 3 & i=$((i + 1)); done; echo made' 2>&1 | sort | uniq -c`,
    );
    expect(said).toMatch(/Cannot fork/i);
  });
});

/** What another process runs to launch a workspace of this program; it is `workspace` then. */
function launching(name: string, program: WorkspaceProgram): string {
  const settings = {
    name,
    tenant: TENANT,
    directory: join(bench.directory, name),
    gatewaySocket: bench.gateway.socketPath,
    claimCodeFile: null,
    toolchains: { mounts: [], tools: [] },
    logFile: null,
    worktree: null,
    program,
  };
  const launcher = new URL('../../local/workspace/launch.ts', import.meta.url).href;
  return `const { launchWorkspace } = await import(${JSON.stringify(launcher)}); const workspace = await launchWorkspace(${JSON.stringify(settings)});`;
}

describe('a workspace', () => {
  it('[inv-14] leaves no process, no mount and no file behind when it is stopped', async () => {
    const marker = sleepMarker();
    const script = `setsid sleep ${marker} &\n(setsid sh -c "trap '' TERM; sleep ${marker} & exec sleep ${marker}" &)\ntrap '' TERM\nsleep ${marker}\n`;
    const test = await openWorkspace(bench, 'stopped', { program: await scripted('stopped', script) });
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 4,
    );
    await test.close();
    expect(await processesWith(marker)).toEqual([]);
    await expect(access(test.directory)).rejects.toThrow('ENOENT');
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(test.directory);
    expect(await test.workspace.exited).toBe(0);
  });

  it('[inv-14] ends with whoever launched it, killed without a word', async () => {
    const marker = sleepMarker();
    const program = await scripted('orphan', `setsid sleep ${marker} &\nexec sleep ${marker}\n`);
    const code = `${launching('orphan', program)} setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'inherit' });
    // The parent's own command line holds the marker too.
    await eventually(
      () => processesWith(marker),
      (pids) => pids.filter((pid) => pid !== parent.pid).length >= 2,
    );
    parent.kill('SIGKILL');
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length === 0,
      5,
    );
  });

  it('is not interrupted with the group of whoever launched it, who ends it in order', async () => {
    const program = await scripted('interrupted', 'exec sleep 1000\n');
    const onInterrupt = `process.once('SIGINT', async () => { await workspace.stop(); console.log('code', await workspace.exited); });`;
    const code = `${launching('interrupted', program)} ${onInterrupt} console.log('launched');`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      // A group of its own, as a terminal gives a command.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    parent.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await eventually(
      () => said,
      (text) => text === 'launched\n',
    );
    process.kill(-(parent.pid ?? 0), 'SIGINT');
    await eventually(
      () => said,
      (text) => text.includes('code'),
    );
    expect(said).toBe('launched\ncode 0\n');
  });

  it('starts its program again, with growing pauses, and reaps what its processes leave', async () => {
    const script = 'date +%s.%N >> /workspace/private/starts\n(sleep 0.01 &)\nexit 3\n';
    const test = await openWorkspace(bench, 'restarting', { program: await scripted('restarting', script) });
    const read = () => readFile(join(test.directory, 'private', 'starts'), 'utf8').catch(() => '');
    const starts = (await eventually(read, (text) => text.split('\n').length > 4)).trim().split('\n').map(Number);
    await test.close();
    const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0);
  });

  it('[inv-19] says what is wrong when it cannot be made', async () => {
    const program: WorkspaceProgram = { binds: [readOnly('/nonexistent', '/opt/x')], argv: ['/bin/true'] };
    const directory = join(bench.directory, 'impossible');
    const launching = launchWorkspace({
      name: 'impossible',
      tenant: TENANT,
      directory,
      gatewaySocket: bench.gateway.socketPath,
      claimCodeFile: null,
      toolchains: { mounts: [], tools: [] },
      logFile: null,
      worktree: null,
      program,
    });
    await expect(launching).rejects.toMatchObject({ code: 'workspace_start_failed' });
    await expect(access(directory)).rejects.toThrow('ENOENT');
  });
});
