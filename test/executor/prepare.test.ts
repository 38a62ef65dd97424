import { readFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import type { CommandPolicy } from '../../policies/commands/types.ts';
import { digestOf } from '../../schemas/digest.ts';
import type { PrepareStep } from '../../schemas/verify/prepare.ts';
import { startEgress, type RunningEgress } from '../../workers/egress/start-egress.ts';
import { BEARER, openBench, type Bench } from './support/bench.ts';
import { archive, integrity, sha256Hex, startFakeRegistry, type FakeRegistry } from './support/registry.ts';

/** Of tools that a machine does not have, nothing can be tried on it. */
const HERE = new Set((await searchToolchains()).tools.map(({ name }) => name));

const KEY = 'k'.repeat(43);
const TOKEN = 'Bearer of-the-registry';

let registry: FakeRegistry;
let egress: RunningEgress;
let bench: Bench;
/** Somebody else's server on this machine, which nothing may ever dial. */
let trap: Server;
let trapped = 0;
let trapPort = 0;

beforeAll(async () => {
  registry = await startFakeRegistry();
  const upstream = { base: new URL(registry.url), authorization: TOKEN };
  const upstreams = { npm: upstream, 'crates-index': upstream, go: upstream, pypi: upstream };
  egress = await startEgress({ host: '127.0.0.1', port: 0, key: KEY, upstreams, logger: pino({ level: 'silent' }) });
  bench = await openBench({}, { url: `http://127.0.0.1:${egress.port}`, key: KEY });
  trap = createServer((socket) => {
    trapped += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const address = trap.address();
  trapPort = address === null || typeof address === 'string' ? 0 : address.port;
});
afterAll(async () => {
  await bench.close();
  await egress.close();
  await registry.close();
  trap.close();
});

/** What the sandbox of a preparation would have to run for any of this to be seen. */
const TREACHERY = 'touch /work/node_modules/ran /prepared/ran; exit 1';

/** Compresses well, but not so well that npm itself gives up. */
function manyBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 256) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return bytes;
}

function dependency(): Buffer {
  return archive({
    'package/package.json': JSON.stringify({
      name: 'dep',
      version: '1.0.0',
      main: 'index.js',
      scripts: { preinstall: TREACHERY, install: TREACHERY, postinstall: TREACHERY },
    }),
    'package/index.js': 'module.exports = 41;\n',
  });
}

function npmProject(bytes: Buffer, change: Readonly<Record<string, string>> = {}): Record<string, string> {
  const elsewhere = `http://127.0.0.1:${trapPort}`;
  const entry = { version: '1.0.0', resolved: `${elsewhere}/dep/-/dep-1.0.0.tgz`, integrity: integrity(bytes) };
  return {
    'package.json': JSON.stringify({
      name: 'project',
      version: '1.0.0',
      scripts: { preinstall: TREACHERY, prepare: TREACHERY, postinstall: TREACHERY },
      dependencies: { dep: '1.0.0' },
    }),
    'package-lock.json': JSON.stringify({
      name: 'project',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: {
        '': { name: 'project', version: '1.0.0', dependencies: { dep: '1.0.0' }, hasInstallScript: true },
        'node_modules/dep': { ...entry, hasInstallScript: true },
      },
    }),
    '.npmrc': `registry=${elsewhere}/\nignore-scripts=false\nscript-shell=/work/shell\nnode-options=--require=/work/evil.js\n`,
    '.pnpmfile.cjs': 'throw new Error();',
    shell: '#!/bin/sh\ntouch /prepared/ran\n',
    'evil.js': "require('fs').writeFileSync('/prepared/ran', '');\n",
    // It changes what it was given, and says what it found before.
    'spoil.test.mjs': `import { test } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { existsSync, writeFileSync } from 'node:fs';
const require = createRequire(import.meta.url);
const found = require('dep');
test('finds what the lockfile says', () => assert.equal(found, 41));
test('finds no trace of a script', () => assert.ok(!existsSync('node_modules/ran') && !existsSync('/prepared/ran')));
test('cannot write what was prepared', () => assert.throws(() => writeFileSync('/prepared/spoilt', '')));
writeFileSync('node_modules/dep/index.js', 'module.exports = 666;');
`,
    ...change,
  };
}

test('[inv-05] [inv-15] a repository that redirects npm and brings scripts gets only what its lockfile pins, and spoils nothing', async () => {
  const bytes = dependency();
  registry.serve('/dep/-/dep-1.0.0.tgz', bytes);
  const commit = await bench.publish(npmProject(bytes));
  const first = await bench.run(commit, ['node', '--test']);
  expect(first).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 3, failed: 0 } });
  expect(first.prepare).toMatchObject({ outcome: 'prepared', cache: 'miss', refused: 0, step: 'npm-ci' });
  expect(first.prepare?.lockfiles.map(({ path }) => path)).toEqual(['package-lock.json', 'package.json']);
  // The copy that the first run spoilt was its own.
  const second = await bench.run(commit, ['node', '--test']);
  expect(second).toMatchObject({ outcome: 'completed', exit_code: 0, prepare: { cache: 'hit', requests: 0 } });
  expect(trapped).toBe(0);
  expect(registry.asked).toEqual(['/dep/-/dep-1.0.0.tgz']);
});

test('[inv-05] what the registry has under that name but not with that digest fails the preparation, never a test', async () => {
  const commit = await bench.publish(npmProject(Buffer.from('another package')));
  const report = await runWith({}, commit, { npm_config_fetch_retries: '0' });
  expect(report).toMatchObject({ outcome: 'prepare_failed', exit_code: null, tests: 'unknown' });
  expect(report.reason).toContain('integrity checksum failed');
  expect(report.prepare).toMatchObject({ outcome: 'failed', cache: 'miss' });
  expect(unfinished()).toEqual([]);
});

test('[inv-19] an archive that unpacks to more than may be written is stopped, and nothing of it is kept', async () => {
  const bomb = archive({
    'package/package.json': '{"name":"dep","version":"1.0.0"}',
    ...Object.fromEntries([0, 1, 2, 3].map((n) => [`package/part-${n}`, manyBytes(8 * 1024 * 1024)])),
  });
  registry.serve('/dep/-/dep-1.0.0.tgz', bomb);
  const commit = await bench.publish(npmProject(bomb));
  const report = await runWith({ maxBytes: 16 * 1024 * 1024 }, commit);
  expect(report).toMatchObject({ outcome: 'prepare_failed', prepare: { outcome: 'failed' } });
  expect(report.reason).toContain('16777216 bytes were written');
  expect(unfinished()).toEqual([]);
});

test('[inv-07] [inv-14] a registry that never answers ends in a time-out of the preparation, not of the command', async () => {
  registry.serve('/dep/-/dep-1.0.0.tgz', () => {});
  const commit = await bench.publish(npmProject(Buffer.from('late')));
  const report = await runWith({ timeoutSecs: 2 }, commit);
  expect(report).toMatchObject({ outcome: 'prepare_failed', prepare: { outcome: 'timed_out' } });
  expect(unfinished()).toEqual([]);
});

const PROBE = `
import glob, json, os, socket, subprocess, urllib.request, urllib.error
def ask(method, path):
    try:
        with urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:8580" + path, method=method), timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except Exception as error:
        return type(error).__name__
def dial(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return "open"
    except OSError as error:
        return "closed"
def secrets():
    found = []
    for root in ("/proc/self/environ", "/proc/1/environ", "/proc/1/cmdline"):
        found.append(open(root, "rb").read())
    for base in ("/work", "/prepared", "/scratch", "/home", "/tmp", "/opt/portcullis", "/report", "/run", "/etc"):
        for path, _, names in os.walk(base):
            for name in names:
                try:
                    found.append(open(os.path.join(path, name), "rb").read(1 << 20))
                except OSError:
                    pass
    return any(b"pc" + b"1." in one or b"of-the" + b"-registry" in one for one in found)
paths = ATTEMPTS
json.dump({
    "answers": [[method, path, ask(method, path)] for method, path in paths],
    "dials": [dial(host, port) for host, port in (("127.0.0.1", GATEWAY), ("127.0.0.1", TRAP), ("192.0.2.1", 80))],
    "secrets": secrets(),
}, open("/prepared/probe.json", "w"))
`;

test('[inv-05] [inv-15] a preparation reaches the registries of its step, nothing else of the gateway, and no credential', async () => {
  registry.serve('/allowed/-/allowed-1.0.0.tgz', 'yes');
  const attempts = [
    ['GET', '/npm/allowed/-/allowed-1.0.0.tgz', 200],
    ['GET', '/v1/executor/register', 403],
    ['POST', '/v1/claims/exchange', 405],
    ['GET', '/git/local/T-1.git/info/refs?service=git-upload-pack', 403],
    ['GET', '/npm/../v1/executor/register', 403],
    ['GET', '/npm/%2e%2e/%2e%2e/v1/executor/register', 403],
    ['GET', '/npm/..%2f..%2fv1', 403],
    ['GET', '//npm/allowed', 403],
    ['GET', '/npm/allowed?x=1', 403],
    ['POST', '/npm/allowed', 405],
    ['PUT', '/npm/allowed/-/allowed-1.0.0.tgz', 405],
    ['GET', '/pypi/simple/six/', 403],
    ['GET', '/crates-index/config.json', 403],
    ['GET', '/egress/npm/allowed', 403],
    ['GET', '/healthz', 403],
  ] as const;
  const port = Number(bench.gateway.address.split(':')[1]);
  const code = PROBE.replace('GATEWAY', String(port))
    .replace('TRAP', String(trapPort))
    .replace('ATTEMPTS', JSON.stringify(attempts.map(([method, path]) => [method, path])));
  const commit = await bench.publish({ 'requirements.txt': `x==1 --hash=sha256:${'0'.repeat(64)}\n` });
  const calls = bench.gateway.authorizations.size;
  const report = await runWith(
    { tool: 'python3', commands: [['python3', '-c', code]], lockfiles: ['requirements.txt'], registries: ['npm'] },
    commit,
  );
  expect(report.prepare).toMatchObject({
    outcome: 'prepared',
    requests: attempts.length,
    refused: attempts.length - 1,
  });
  const found = JSON.parse(await readFile(probeFile(), 'utf8')) as unknown;
  expect(found).toEqual({
    answers: attempts.map((attempt) => [...attempt]),
    dials: ['closed', 'closed', 'closed'],
    secrets: false,
  });
  // The one bearer that the gateway saw is the executor's, and the registry saw its own credential and no other.
  expect(bench.gateway.authorizations.size).toBe(calls);
  expect([...bench.gateway.authorizations].filter((one) => one !== '')).toEqual([`Bearer ${BEARER}`]);
  expect([...registry.authorizations]).toEqual([TOKEN]);
});

/** What unpacking would have to write for an archive to have climbed out of its directory. */
const CLIMBS = ['package/../../../ran', 'package/../../../../prepared/ran', '/prepared/ran'];

test('[inv-05] [inv-15] an archive whose entries climb writes nothing outside its own directory', async () => {
  const climbing = archive({
    'package/package.json': '{"name":"dep","version":"1.0.0","main":"index.js"}',
    'package/index.js': 'module.exports = 41;\n',
    ...Object.fromEntries(CLIMBS.map((path) => [path, 'climbed'])),
  });
  registry.serve('/dep/-/dep-1.0.0.tgz', climbing);
  const looks = `import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
test('only what belongs there', () => {
  assert.deepEqual(readdirSync('node_modules').filter((name) => !name.startsWith('.')), ['dep']);
  assert.deepEqual(readdirSync('node_modules/dep').filter((name) => name === 'ran'), []);
  assert.ok(!existsSync('ran') && !existsSync('/prepared/ran'));
});
`;
  const report = await bench.run(await bench.publish(npmProject(climbing, { 'spoil.test.mjs': looks })), [
    'node',
    '--test',
  ]);
  // npm may as well refuse it whole.
  if (report.outcome !== 'prepare_failed') expect(report).toMatchObject({ exit_code: 0, tests: { executed: 1 } });
  expect(unfinished()).toEqual([]);
});

test.runIf(HERE.has('pnpm'))(
  '[inv-05] hooks, settings and scripts of the repository have no say in what pnpm installs, and none of them runs',
  async () => {
    const bytes = dependency();
    registry.serve('/dep/-/dep-1.0.0.tgz', bytes);
    const elsewhere = `http://127.0.0.1:${trapPort}/`;
    const before = registry.asked.length;
    const { 'package-lock.json': _, ...project } = npmProject(bytes);
    const commit = await bench.publish({
      ...project,
      'package.json': JSON.stringify({
        name: 'project',
        version: '1.0.0',
        packageManager: 'pnpm@0.0.1',
        scripts: { preinstall: TREACHERY, prepare: TREACHERY, pretest: TREACHERY, test: 'node --test' },
        pnpm: { onlyBuiltDependencies: ['dep'] },
        dependencies: { dep: '1.0.0' },
      }),
      '.npmrc': `${project['.npmrc'] ?? ''}global-pnpmfile=/work/.pnpmfile.cjs\nenable-pre-post-scripts=true\n`,
      'pnpm-workspace.yaml': `registries:\n  default: ${elsewhere}\ndangerouslyAllowAllBuilds: true\nscriptShell: /work/shell\n`,
      'pnpm-lock.yaml': `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
      dep:
        specifier: 1.0.0
        version: 1.0.0

packages:

  dep@1.0.0:
    resolution: {integrity: ${integrity(bytes)}}

snapshots:

  dep@1.0.0: {}
`,
    });
    bench.gateway.chunks.clear();
    const report = await bench.run(commit, ['pnpm', 'test']);
    const said = bench.gateway.stored('stdout').toString() + bench.gateway.stored('stderr').toString();
    expect(report, said).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 3, failed: 0 } });
    expect(report.prepare).toMatchObject({ step: 'pnpm-install', outcome: 'prepared', cache: 'miss', refused: 0 });
    expect(registry.asked.slice(before)).toEqual(['/dep/-/dep-1.0.0.tgz']);
    expect(trapped).toBe(0);
  },
);

test('[inv-05] a package of which there is only source code is not built, though its digest is right', async () => {
  const source = archive({
    'dep-1.0/setup.py': "open('/prepared/ran', 'w')\n",
    'dep-1.0/PKG-INFO': 'Name: dep\nVersion: 1.0\n',
  });
  registry.serve('/pypi/dep-1.0.tar.gz', source);
  registry.serve(
    '/dep/',
    `<a href="${registry.url}pypi/dep-1.0.tar.gz#sha256=${sha256Hex(source)}">dep-1.0.tar.gz</a>`,
  );
  const commit = await bench.publish({
    'requirements.txt': `dep==1.0 --hash=sha256:${sha256Hex(source)}\n`,
    'test_it.py': 'def test_it():\n    pass\n',
  });
  const report = await bench.run(commit, ['pytest']);
  expect(report).toMatchObject({ outcome: 'prepare_failed', prepare: { step: 'pip-install', outcome: 'failed' } });
  expect(report.reason).toContain('No matching distribution found for dep==1.0');
  expect(registry.asked).not.toContain('/pypi/dep-1.0.tar.gz');
});

test.runIf(HERE.has('cargo'))(
  '[inv-05] a configuration of the repository has no say in what cargo fetches, and no wrapper of it runs',
  async () => {
    const crate = archive({
      'dep-1.0.0/Cargo.toml': '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n',
      'dep-1.0.0/src/lib.rs': 'pub fn answer() -> u32 { 41 }\n',
    });
    const checksum = sha256Hex(crate);
    const line = { name: 'dep', vers: '1.0.0', deps: [], cksum: checksum, features: {}, yanked: false };
    registry.serve('/config.json', JSON.stringify({ dl: `${registry.url}dl` }));
    registry.serve('/3/d/dep', `${JSON.stringify(line)}\n`);
    registry.serve('/dl/dep/1.0.0/download', crate);
    const commit = await bench.publish({
      'Cargo.toml': '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ndep = "1"\n',
      'Cargo.lock': `version = 4

[[package]]
name = "dep"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "${checksum}"

[[package]]
name = "project"
version = "0.1.0"
dependencies = [
 "dep",
]
`,
      'src/lib.rs': '#[test]\nfn answers() { assert_eq!(dep::answer(), 41); }\n',
      '.cargo/config.toml': `[build]
rustc-wrapper = "/work/wrapper"
[net]
git-fetch-with-cli = true
[http]
proxy = "127.0.0.1:${trapPort}"
[registry]
global-credential-providers = ["/work/wrapper"]
`,
      wrapper: { text: '#!/bin/sh\ntouch /prepared/ran\nexec "$@"\n', mode: 0o755 },
    });
    const report = await bench.run(commit, ['cargo', 'test']);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 1, passed: 1 } });
    expect(report.prepare).toMatchObject({ outcome: 'prepared', refused: 0, requests: 3 });
    expect(trapped).toBe(0);
  },
);

/** Runs `node --test` under a policy whose preparation is changed, on both sides. */
async function runWith(change: Partial<PrepareStep>, commit: string, environment: PrepareStep['environment'] = {}) {
  const { policy } = bench.context.policy;
  const shipped = policy.preparations.find(({ id }) => id === 'npm-ci');
  if (shipped === undefined) throw new Error('there is no npm-ci');
  const step: PrepareStep = { ...shipped, ...change, environment: { ...shipped.environment, ...environment } };
  const changed: CommandPolicy = { ...policy, preparations: [step] };
  const loaded = { policy: changed, digest: digestOf('policy', changed) };
  return bench.run(commit, ['node', '--test'], {
    change: {
      prepare: step,
      policy: { id: changed.id, revision: changed.revision, digest: loaded.digest, template: 'node-test' },
    },
    context: { policy: loaded },
  });
}

function unfinished(): readonly string[] {
  return readdirSync(bench.context.prepare.directory).filter((name) => name.startsWith('new-'));
}

function probeFile(): string {
  const { directory } = bench.context.prepare;
  const found = readdirSync(directory).find((name) =>
    readdirSync(join(directory, name, 'data')).includes('probe.json'),
  );
  return join(directory, found ?? 'none', 'data', 'probe.json');
}

test('[inv-19] the shipped policy names a preparation for each package manager, with install scripts off', async () => {
  const { policy } = await loadCommandPolicy();
  expect(policy.preparations.map(({ tool, installScripts }) => [tool, installScripts])).toEqual(
    ['npm', 'pnpm', 'cargo', 'go', 'python3'].map((tool) => [tool, false]),
  );
});
