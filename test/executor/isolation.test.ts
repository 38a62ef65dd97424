import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEARER, openBench, type Bench } from './support/bench.ts';

const SMALL = 8 * 1024 * 1024;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({ tmpBytes: SMALL, fileBytes: SMALL });
});
afterAll(() => bench.close());

/** Runs a script inside the sandbox; what it printed. */
async function inside(script: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const commit = await bench.publish({ Makefile: 'test:\n\t@sh run.sh\n', 'run.sh': script, ...files });
  bench.gateway.chunks.clear();
  const report = await bench.run(commit, ['make', 'test']);
  expect(report.outcome).toBe('completed');
  return bench.gateway.stored('stdout').toString();
}

describe('inside the sandbox', () => {
  it('[inv-15] there is no network: what listens on this machine cannot be reached', async () => {
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address !== 'string' ? address.port : 0;
    const probe = `import { connect } from 'node:net'; connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('data', (d) => console.log(String(d)));`;
    // Without the sandbox the same probe gets through.
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', probe]);
    expect(stdout).toBe('hello\n');
    const said = await inside('node probe.mjs; cat /proc/net/dev | grep : | cut -d: -f1', { 'probe.mjs': probe });
    server.close();
    expect(said.split(/\s+/).filter((word) => word !== '')).toEqual(['ECONNREFUSED', 'lo']);
  });

  it('[inv-15] no other process is visible', async () => {
    const said = await inside('ls -d /proc/[0-9]* | wc -l; cat /proc/[0-9]*/cmdline | tr "\\0" " "');
    expect(Number(said.split('\n')[0])).toBeLessThan(10);
    expect(said).not.toMatch(/vitest|portcullis-executor/);
  });

  it("[inv-15] neither the bearer nor any other file of the executor's can be found", async () => {
    await writeFile(join(bench.directory, 'private', 'grant.json'), BEARER, { mode: 0o600 });
    const said = await inside(
      [
        // In two halves, or the script would find itself.
        `grep -rlF --devices=skip --exclude-dir=usr --exclude-dir=proc --exclude-dir=toolchains "${BEARER.slice(0, 12)}""${BEARER.slice(12)}" / 2>/dev/null`,
        `cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c "${BEARER.slice(0, 12)}"`,
        `ls -d ${bench.directory} ${process.cwd()} /root /home/* 2>/dev/null`,
        'cat /etc/passwd /etc/hosts',
        'ls /sys /run /var /mnt /boot 2>/dev/null',
        'true',
      ].join('\n'),
    );
    expect(said.split('\n')).toEqual([
      '0',
      '/home/run',
      'run:x:1000:1000:run:/home/run:/bin/sh',
      '127.0.0.1 localhost sandbox',
      '::1 localhost',
      '',
    ]);
  });

  it('[inv-15] the environment is what the policy says and nothing else', async () => {
    process.env['PORTCULLIS_TEST_SECRET'] = 'leak';
    const commit = await bench.publish({ Makefile: 'test:\n\t@env -0 > out\n' });
    const report = await bench.run(commit, ['make', 'test'], { artifacts: ['out'] });
    delete process.env['PORTCULLIS_TEST_SECRET'];
    const said = await inside('tr "\\0" "\\n" < /proc/1/environ; cat /proc/$PPID/environ | tr "\\0" "\\n"');
    const names = new Set(
      said
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('=')[0] ?? ''),
    );
    expect(report.artifacts).toHaveLength(1);
    expect([...names].filter((name) => !['PWD', 'OLDPWD'].includes(name)).sort()).toEqual(
      Object.keys(bench.context.policy.policy.environment).sort(),
    );
  });

  it('[inv-15] nothing can be written but the copy and scratch space', async () => {
    const places = [
      '/x',
      '/usr/x',
      '/etc/x',
      '/opt/x',
      '/opt/toolchains/bin/x',
      '/bin/x',
      '/proc/x',
      '/dev/x',
      '/home/x',
    ];
    const said = await inside(
      `for p in ${places.join(' ')} /work/x /tmp/x /home/run/x /dev/shm/x; do (echo > $p) 2>/dev/null && echo $p; done; true`,
    );
    expect(said.split('\n')).toEqual(expect.arrayContaining(['/work/x', '/tmp/x', '/home/run/x', '/dev/shm/x']));
    for (const place of places.filter((one) => one !== '/dev/x' && one !== '/home/x')) {
      expect(said.split('\n')).not.toContain(place);
    }
  });

  it('[inv-14] it has no capability, cannot get one, and cannot make namespaces of its own', async () => {
    const said = await inside(
      'grep -E "^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)" /proc/self/status; unshare -U true 2>/dev/null && echo unshared; mount -t tmpfs t /mnt 2>/dev/null && echo mounted; true',
    );
    expect(said).toMatch(/NoNewPrivs:\s+1/);
    expect([...said.matchAll(/^Cap\w+:\s+(\w+)$/gm)].map(([, bits]) => bits)).toEqual(
      Array(4).fill('0000000000000000'),
    );
    expect(said).not.toMatch(/unshared|mounted/);
  });

  it('[inv-15] there is no device but the harmless ones', async () => {
    const said = await inside('find /dev -type b; find /dev -type c | sort');
    const devices = said.split('\n').filter((line) => line !== '');
    expect(
      devices.filter((path) => !/^\/dev\/(null|zero|full|random|urandom|tty|console|ptmx|pts\/ptmx)$/.test(path)),
    ).toEqual([]);
  });

  it('[inv-19] scratch space and files are bounded', async () => {
    const said = await inside(
      'head -c 20000000 /dev/zero > /tmp/big 2>/dev/null; stat -c %s /tmp/big; head -c 20000000 /dev/zero > /work/big 2>/dev/null; stat -c %s /work/big',
    );
    for (const size of said.trim().split('\n')) expect(Number(size)).toBeLessThanOrEqual(SMALL);
  });

  it('[inv-19] memory of a process is bounded', async () => {
    const small = await openBench({ dataBytes: 64 * 1024 * 1024 });
    try {
      const commit = await small.publish({
        Makefile: 'test:\n\t@python3 -c "x = bytearray(500_000_000); print(len(x))"\n',
      });
      const report = await small.run(commit, ['make', 'test']);
      expect(report.exit_code).not.toBe(0);
      expect(small.gateway.stored('stdout').toString()).not.toContain('500000000');
    } finally {
      await small.close();
    }
  });

  it('writing to /dev/stderr works, as scripts do it', async () => {
    await inside('echo hello > /dev/stderr');
    expect(bench.gateway.stored('stderr').toString()).toBe('hello\n');
  });

  it('says what contains it', async () => {
    const commit = await bench.publish({ Makefile: 'test:\n' });
    const report = await bench.run(commit, ['make', 'test']);
    expect(report.sandbox).toMatchObject({ containment: 'bubblewrap', network: 'none', limits: { tmpBytes: SMALL } });
    // Root is not held by the limit on processes, so it is not claimed.
    expect('processes' in report.sandbox.limits).toBe(process.getuid?.() !== 0);
  });
});
