/**
 * What hostile code tries from inside the sandbox, on the real thing: a workspace of the launcher, its executor, a signed action.
 * One run makes most attempts (`escape/probe.py`); those that end a run have one of their own.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pollUntil } from '../support/poll.ts';
import { descendantsOf } from '../../activities/executor/process-table.ts';
import { executorReportSchema } from '../../schemas/verify/report.schema.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { BEARER, openBench, type Bench } from './support/bench.ts';
import { eventually, processesWith, sleepMarker } from './support/processes.ts';
import { openWorkspace, QUEUE, type TestWorkspace } from './support/workspace.ts';

const MIB = 1024 * 1024;
const LIMITS = {
  processes: 48,
  memoryBytes: 192 * MIB,
  workBytes: 64 * MIB,
  files: 3_000,
  tmpBytes: 8 * MIB,
  fileBytes: 16 * MIB,
};
const PROBE = readFileSync(new URL('escape/probe.py', import.meta.url), 'utf8');
const CLOSED = [
  ...['/x', '/usr/x', '/etc/x', '/opt/x', '/dev/x', '/home/x', '/sys/x', '/run/x', '/proc/sys/kernel/core_pattern'],
  ...['/proc/sysrq-trigger', '/etc/passwd', '/etc/ld.so.preload'],
];

let connection: Connection;
let bench: Bench;
let workspace: TestWorkspace;
let runs = 0;

beforeAll(async () => {
  const address = inject('temporalAddress');
  connection = await Connection.connect({ address });
  bench = await openBench(LIMITS);
  const policyDirectory = join(bench.directory, 'policies');
  await mkdir(policyDirectory);
  await writeFile(join(policyDirectory, 'default.json'), JSON.stringify(bench.context.policy.policy));
  workspace = await openWorkspace(bench, 'escape', { temporalAddress: address, policyDirectory });
});
afterAll(async () => {
  await workspace.close();
  await bench.close();
  await connection.close();
});

interface Ran {
  readonly report: ExecutorReport;
  readonly said: string;
}

/** Runs a Python program as `make test` in the workspace. */
async function run(
  program: string,
  more: Readonly<Record<string, string>> = {},
  artifacts: readonly string[] = [],
): Promise<Ran> {
  runs += 1;
  const files = { Makefile: 'test:\n\t@exec python3 program.py\n', 'program.py': program, ...more };
  const commit = await bench.publish(files);
  workspace.gateway.chunks.clear();
  const signed = bench.action(commit, ['make', 'test'], {}, 60, artifacts);
  const handle = await new Client({ connection }).activity.start('runCommand', {
    id: `${QUEUE}/escape-${runs}`,
    taskQueue: QUEUE,
    args: [signed],
    startToCloseTimeout: '60s',
    heartbeatTimeout: '10s',
    retry: { maximumAttempts: 1 },
  });
  const report = executorReportSchema.parse(await handle.result());
  return { report, said: workspace.gateway.stored('stdout').toString() };
}

/** Pid of the executor by our numbering: the one process of the workspace that runs our program. */
function executorPid(): Promise<number> {
  return pollUntil(
    async () => (await descendantsOf(workspace.workspace.pid)).find((pid) => commandOf(pid).includes('executor/main')),
    { what: 'the workspace to have an executor' },
  );
}

/** Empty for one that has just ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

describe('hostile code in the sandbox', () => {
  const came = new Map<string, unknown>();
  let report: ExecutorReport;
  let servers: readonly Server[] = [];
  let sharedMemory = '';

  beforeAll(async () => {
    const abstract = `portcullis-${sleepMarker()}`;
    const [tcp, unix] = [createServer((socket) => socket.end('x')), createServer((socket) => socket.end('x'))];
    servers = [tcp, unix];
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => unix.listen(`\0${abstract}`, resolve));
    const address = tcp.address();
    const port = address !== null && typeof address !== 'string' ? address.port : 0;
    sharedMemory =
      execFileSync('ipcmk', ['-M', '4096', '-p', '0666'], { encoding: 'utf8' }).split(': ')[1]?.trim() ?? '';
    const given = {
      port,
      abstract,
      socket: workspace.gateway.socketPath,
      executor: await executorPid(),
      key: 'portcullis',
      secrets: [
        ...[
          '/etc/shadow',
          '/etc/hostname',
          '/root/.bashrc',
          '/workspace/private/grant.json',
          '/run/cgroup/memory/tasks',
        ],
        join(workspace.directory, 'private', 'grant.json'),
        join(workspace.directory, 'private', 'settings.json'),
      ],
      closed: CLOSED,
    };
    const ran = await run(PROBE, { 'given.json': JSON.stringify(given) }, ['out/passwd', 'out', 'link', 'hard']);
    report = ran.report;
    for (const line of ran.said.trim().split('\n')) {
      const { name, came: what } = JSON.parse(line) as { name: string; came: unknown };
      came.set(name, what);
    }
    expect(report, ran.said).toMatchObject({ outcome: 'completed', exit_code: 0 });
  });
  afterAll(() => {
    for (const server of servers) server.close();
    if (sharedMemory !== '') execFileSync('ipcrm', ['-m', sharedMemory]);
  });

  it.each<[string, unknown]>([
    ['loopback of the machine', 'ECONNREFUSED'],
    ['abstract socket of the machine', 'ECONNREFUSED'],
    ['socket of the gateway', 'ENOENT'],
    ['socket of the gateway by its path outside', 'ENOENT'],
    ['interfaces', ['lo']],
    ['raw socket', 'EPERM'],
    ['packet socket', 'EAFNOSUPPORT'],
    ['socket to the hypervisor', 'EAFNOSUPPORT'],
  ])('[inv-15] has no network: %s', (name, what) => {
    expect(came.get(name)).toEqual(what);
  });

  it.each<[string, unknown]>([
    ['signal to the executor', 'ESRCH'],
    ['trace of the executor', 'ESRCH'],
    ['shared memory of System V', 0],
    ['shared memory of POSIX', []],
    ['keys', 'ENOSYS'],
    ['key rings', 'ENOSYS'],
  ])('[inv-15] reaches no other process: %s', (name, what) => {
    expect(came.get(name)).toEqual(what);
  });

  it('[inv-15] sees its own processes only, and cannot end the one that ends with all of them', () => {
    expect(came.get('processes')).toBeLessThan(8);
    expect(came.get('signal to the first process')).toBe('still here');
  });

  it("[inv-15] reads no file of the machine's, of the executor's or of the control plane's, by any way", () => {
    const reads = [...came].filter(([name]) => name.startsWith('read '));
    expect(reads).toHaveLength(28);
    for (const [name, what] of reads)
      expect([name, what]).toEqual([name, expect.stringMatching(/^E(NOENT|ACCES|PERM)$/)]);
    expect(JSON.stringify([...came])).not.toContain(BEARER);
  });

  it('[inv-15] inherits no open file and no variable', () => {
    // Its own two pipes, which bear the executor's name for them, and what the sandbox's first process waits with.
    const own = /^(\/dev\/null|pipe|anon_inode|\/workspace\/private\/runs\/run-\w+\/pipes\/std(out|err))$/;
    const open = came.get('open files');
    expect(Array.isArray(open) ? open.filter((name: string) => !own.test(name)) : open).toEqual([]);
    const known = Object.keys(bench.context.policy.policy.environment);
    // Set by make, and for a make that brought libraries of its own.
    const others = /^(PWD|OLDPWD|SHLVL|_|M(AKE)?FLAGS|MAKELEVEL|MAKE_TERM(OUT|ERR)|LD_LIBRARY_PATH)$/;
    const names = came.get('environments');
    expect(
      Array.isArray(names) ? names.filter((name: string) => !known.includes(name) && !others.test(name)) : names,
    ).toEqual([]);
  });

  it('[inv-15] finds harmless devices only, makes none, and types into no terminal', () => {
    const devices = came.get('devices');
    const odd = Array.isArray(devices)
      ? devices.filter((path: string) => !/^\/dev\/(null|zero|full|random|urandom|tty|pts\/ptmx)$/.test(path))
      : devices;
    expect(odd).toEqual([]);
    expect(came.get("device of one's own")).toBe('EPERM');
    expect(came.get('terminal')).toBe('ENXIO');
    expect(came.get("terminal of one's own")).toBe('EPERM');
  });

  it('[inv-14] gets no namespace, no mount and no right', () => {
    for (const [name, what] of came) {
      if (/^(namespace|mount|unmount|writable again|change of root)/.test(name)) {
        expect([name, what]).toEqual([name, expect.stringMatching(/^E(PERM|NOSPC|INVAL|ACCES)$/)]);
      }
    }
    expect(came.get('set-uid')).toEqual({ nosuid: true, no_new_privileges: true });
  });

  it.each(CLOSED)('[inv-15] does not write %s', (path) => {
    expect(came.get(`write ${path}`)).toMatch(/^E(ROFS|ACCES|PERM|NOENT|IO)$/);
  });

  it('[inv-19] fills no scratch space beyond its size, and leaves no zombie', () => {
    for (const place of ['/tmp', '/dev/shm', '/home/run']) expect(came.get(`fill ${place}`)).toBe('ENOSPC');
    expect(came.get('zombies')).toBe(0);
  });

  it('[inv-17] puts nothing of the machine into an artifact, by a link where a directory was', () => {
    expect(came.get('swap')).toBe('swapped');
    expect(report.artifacts).toEqual([]);
    expect(report.missing_artifacts).toEqual(['out/passwd', 'out', 'link', 'hard']);
  });

  it('is told by the report what contained it', () => {
    expect(report.sandbox).toMatchObject({ containment: 'bubblewrap', network: 'none' });
    const { memoryBytes, ...limits } = LIMITS;
    expect(report.sandbox.limits).toMatchObject(limits);
    expect(report.sandbox.exceeded).toBeUndefined();
    // Only where a cgroup could be delegated is there a limit on the total, and only then is one named.
    expect([undefined, memoryBytes]).toContain(report.sandbox.limits['memoryBytes']);
  });
});

const HOLD = 'import time\ntime.sleep(50)\n';

describe('a run that takes too much', () => {
  it('[inv-14] ends with no process left, however many it made: a fork bomb', async () => {
    const marker = sleepMarker();
    const bomb = [
      'import os, subprocess, sys',
      'made = 0',
      'try:',
      `    while made < 500: subprocess.Popen(["sleep", "${marker}"]); made += 1`,
      'except OSError: pass',
      'print(made)',
    ].join('\n');
    const { report, said } = await run(bomb);
    expect(Number(said)).toBeGreaterThan(5);
    expect(Number(said)).toBeLessThan(LIMITS.processes);
    expect(await processesWith(marker)).toEqual([]);
    expect(report.outcome).toBe('completed');
  });

  it('[inv-19] is told by the limit on memory as a whole, where there is one', async () => {
    const bomb = [
      'import os, time',
      'children = []',
      'for _ in range(6):',
      '    child = os.fork()',
      '    if child == 0:',
      '        held = bytearray(os.urandom(1)) * (64 * 1024 * 1024)',
      '        time.sleep(1)',
      '        os._exit(0)',
      '    children.append(child)',
      'print(sum(os.waitpid(child, 0)[1] != 0 for child in children))',
    ].join('\n');
    const { report, said } = await run(bomb);
    const isLimited = report.sandbox.limits['memoryBytes'] !== undefined;
    expect(report.outcome).toBe('completed');
    expect(report.sandbox.exceeded ?? []).toEqual(isLimited ? ['memoryBytes'] : []);
    // On some kernels the whole run is ended and has nothing to say.
    if (isLimited && said !== '') expect(Number(said)).toBeGreaterThan(0);
  });

  it.each<[string, string, string]>([
    ['bytes in its copy', 'workBytes', `for n in range(30): open(f"f{n}", "wb").write(b"x" * ${8 * MIB})\n`],
    [
      'bytes in a directory of it that nobody may read',
      'diskFree',
      [
        'os.mkdir("d")',
        'held = [open(f"d/f{n}", "wb") for n in range(30)]',
        'os.chmod("d", 0)',
        `for one in held: one.write(b"x" * ${8 * MIB})\n`,
      ].join('\n'),
    ],
    [
      'files in its copy',
      'files',
      'for n in range(9000): os.mkdir(f"d{n}") if n % 2 else open(f"f{n}", "w").close()\n',
    ],
    ['files in its scratch space', 'files', 'for n in range(9000): open(f"/tmp/f{n}", "w").close()\n'],
  ])('[inv-19] is ended by name for too many %s', async (_, limit, program) => {
    const { report } = await run(`import os\n${program}${HOLD}`);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: null, signal: 'SIGKILL', tests: 'unknown' });
    expect(report.sandbox.exceeded).toEqual([limit]);
    expect(report.reason).toMatch(/^limit: more than \d+ (bytes|files)/);
    expect(report.duration_ms).toBeLessThan(15_000);
  });

  it('[inv-19] is what the kernel ends when there is no memory left, and not its executor', async () => {
    const { said } = await run('print(open("/proc/self/oom_score_adj").read().strip())');
    expect(said.trim()).toBe('1000');
  });

  it('leaves nothing on the disk and no cgroup', async () => {
    const left = join(workspace.directory, 'private', 'runs');
    await eventually(
      () => readdir(left),
      (names) => names.length === 0,
    );
    const found = execFileSync('find', ['/sys/fs/cgroup', '-name', 'run-*', '-path', '*portcullis-escape*'], {
      encoding: 'utf8',
    });
    expect(found).toBe('');
  });
});
