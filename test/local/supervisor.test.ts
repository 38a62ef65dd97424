import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lives } from '../../local/processes.ts';
import {
  ANY_PORTS,
  makeStateDirectories,
  PART_NAMES,
  recordedProcesses,
  writeState,
  type LocalState,
} from '../../local/state.ts';
import { pollUntil } from '../support/poll.ts';
import { Home, type RunningCommand } from './stack-process.ts';

const SLOW = 180_000;

let cache: string;
beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), 'portcullis-cache-'));
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

function emptyState(change: Partial<LocalState>): LocalState {
  const part = { state: 'stopped', process: null, address: '', since: 0, restarts: 0, log: null } as const;
  return {
    schema: 'portcullis/local-state/v1',
    supervisor: null,
    startedAt: 0,
    ready: false,
    ports: ANY_PORTS,
    parts: { store: part, temporal: part, gateway: part, control: part, gate: part, egress: part, coder: part },
    ...change,
  };
}

async function squat(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, server };
}

describe('a running stack', () => {
  let home: Home;
  let stack: RunningCommand;
  beforeAll(async () => {
    home = new Home(cache);
    stack = await home.up();
  }, SLOW);
  afterAll(() => home.remove(), 60_000);

  test('shows each part', async () => {
    const status = await home.run(['status', '--json']);
    const part = { state: 'ready', pid: expect.any(Number) as number, restarts: expect.any(Number) as number };
    expect(JSON.parse(status.stdout)).toMatchObject({
      schema: 'portcullis/v1',
      kind: 'Status',
      running: true,
      ready: true,
      supervisorPid: stack.child.pid,
      parts: PART_NAMES.map((name) => ({ part: name, ...part })),
    });
    expect(status.code).toBe(0);
  });

  test('is joined by a second start', async () => {
    const second = await home.run(['up', '--no-example']);
    expect(second).toMatchObject({ code: 0 });
    expect(second.stderr).toContain(`already runs here (supervisor ${stack.child.pid})`);
  });

  test('is healthy in the eyes of doctor', async () => {
    const doctor = await home.run(['doctor', '--json']);
    expect(JSON.parse(doctor.stdout)).toMatchObject({ kind: 'Doctor', healthy: true });
  });

  test('[inv-15] keeps state and keys to its owner, and secrets out of command lines, environments and logs', () => {
    expect(statSync(home.paths.root).mode & 0o777).toBe(0o700);
    const names = [
      'gateway-key',
      'store-control',
      'store-gate',
      'store-gateway',
      'store-reader',
      'store-admin',
      'operator',
    ];
    const secrets = names.map((name) => {
      const file = join(home.paths.keys, name);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      return readFileSync(file, 'utf8').trim();
    });
    for (const [part, { pid }] of recordedProcesses(home.state())) {
      const places = [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`, home.paths.log(part)];
      const seen = places.map((file) => readFileSync(file, 'utf8')).join('\n');
      expect(
        secrets.filter((secret) => seen.includes(secret)),
        `secrets of ${part} that can be seen`,
      ).toEqual([]);
    }
  });

  test.each(PART_NAMES)('[inv-18] starts %s again where it was after kill -9', { timeout: 90_000 }, async (name) => {
    const before = home.state();
    const { process: killed, restarts } = before.parts[name];
    if (killed === null) throw new Error(`${name} has no process`);
    process.kill(killed.pid, 'SIGKILL');
    await pollUntil(
      () => {
        const { parts } = home.state();
        const serving = PART_NAMES.every((part) => parts[part].state === 'ready');
        return serving && parts[name].restarts === restarts + 1 && parts[name].process?.pid !== killed.pid;
      },
      { what: `${name} to serve again`, deadlineMs: 60_000 },
    );
    expect(home.state().ports).toEqual(before.ports);
  });
});

describe('a stack of its own', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home(cache);
  });
  afterEach(() => home.remove(), 60_000);

  test(
    '[inv-18] goes on from its state after the supervisor was killed, without the orphans',
    { timeout: SLOW },
    async () => {
      const first = await home.up();
      const orphans = recordedProcesses(home.state());
      const { ports } = home.state();
      const bearer = readFileSync(home.paths.operator, 'utf8');
      first.child.kill('SIGKILL');
      await first.ended;
      expect(orphans.filter(([, found]) => lives(found))).toHaveLength(PART_NAMES.length);
      const status = await home.run(['status', '--json']);
      expect(status.code).toBe(5);
      expect(JSON.parse(status.stdout)).toMatchObject({
        ready: false,
        parts: PART_NAMES.map(() => ({ state: 'orphaned' })),
      });

      const second = await home.up();
      expect(second.stderr()).toContain('left over from a killed supervisor');
      expect(orphans.filter(([, found]) => lives(found))).toEqual([]);
      expect(home.state().ports).toEqual(ports);
      // The bearer is only taken when the store kept its record and the gateway its key.
      expect(readFileSync(home.paths.operator, 'utf8')).toBe(bearer);

      second.child.kill('SIGKILL');
      await second.ended;
      const left = recordedProcesses(home.state());
      const down = await home.run(['down', '--json']);
      expect(JSON.parse(down.stdout)).toMatchObject({ kind: 'Down', stopped: PART_NAMES.map((part) => ({ part })) });
      expect(recordedProcesses(home.state())).toEqual([]);
      expect(left.filter(([, found]) => lives(found))).toEqual([]);
    },
  );

  test('ends in order on TERM and on Ctrl-C, and chooses around ports that are taken', { timeout: SLOW }, async () => {
    const squatters = await Promise.all([squat(), squat()]);
    const [gateway, store] = squatters.map(({ port }) => port);
    makeStateDirectories(home.paths);
    writeState(home.paths, emptyState({ ports: { ...ANY_PORTS, gateway: gateway ?? 0, store: store ?? 0 } }));
    try {
      const first = await home.up();
      const { ports } = home.state();
      expect(first.stderr()).toContain(`port ${gateway} (gateway) is taken; using ${ports.gateway}`);
      expect(first.stderr()).toContain(`port ${store} (store) is taken; using ${ports.store}`);
      const processes = recordedProcesses(home.state());
      first.child.kill('SIGTERM');
      expect((await first.ended).code).toBe(0);
      expect(processes.filter(([, found]) => lives(found))).toEqual([]);
      expect((await home.run(['status'])).code).toBe(5);

      const second = await home.up();
      expect(home.state().ports).toEqual(ports);
      second.child.kill('SIGINT');
      expect((await second.ended).code).toBe(130);
      expect(recordedProcesses(home.state())).toEqual([]);
    } finally {
      for (const { server } of squatters) server.close();
    }
  });

  test('outlives its command when detached, and is stopped by down', { timeout: SLOW }, async () => {
    const started = await home.run(['up', '--detach', '--no-example']);
    expect(started).toMatchObject({ code: 0 });
    const status = await home.run(['status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ ready: true });
    const processes = recordedProcesses(home.state());
    const down = await home.run(['down', '--json']);
    const stopped = [{ part: 'supervisor' }, ...PART_NAMES.map((part) => ({ part }))];
    expect(JSON.parse(down.stdout)).toMatchObject({ stopped });
    expect(processes.filter(([, found]) => lives(found))).toEqual([]);
  });

  test('that cannot start says which part and why, and leaves nothing running', { timeout: 60_000 }, async () => {
    const nowhere = await home.run(['up', '--no-example', '--json'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(nowhere.code).toBe(5);
    expect(JSON.parse(nowhere.stdout)).toMatchObject({ kind: 'Error', code: 'temporal_unavailable' });
    expect(recordedProcesses(home.state())).toEqual([]);
    expect(nowhere.stderr).not.toContain('    at ');
  });

  test('whose part cannot start ends the parts that had started', { timeout: 60_000 }, async () => {
    makeStateDirectories(home.paths);
    // Where the gateway's socket belongs: it cannot listen there, and everything else starts.
    mkdirSync(join(home.paths.gatewaySocket, 'in-the-way'), { recursive: true });
    const up = await home.run(['up', '--no-example', '--json']);
    expect(up.code).not.toBe(0);
    expect(JSON.parse(up.stdout)).toMatchObject({ kind: 'Error', code: 'stack_start_failed' });
    expect(recordedProcesses(home.state())).toEqual([]);
  });

  test('never ends a process that has the pid of a part by now', { timeout: 60_000 }, async () => {
    makeStateDirectories(home.paths);
    // This test's own process under another start: whoever reaps by pid alone ends the test.
    const mine = { pid: process.pid, started: 'another-boot:1' };
    const state = emptyState({});
    writeState(home.paths, { ...state, parts: { ...state.parts, gate: { ...state.parts.gate, process: mine } } });
    const down = await home.run(['down']);
    expect(down).toMatchObject({ code: 0, stdout: 'Nothing runs here.\n' });
  });
});
