/** What a repository can write into its own files to choose what runs, against the environment that the policy forces. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBench, type Bench } from './support/bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
beforeEach(() => bench.gateway.chunks.clear());
afterAll(() => bench.close());

const said = () => bench.gateway.stored('stdout').toString() + bench.gateway.stored('stderr').toString();
const TEST = "import { test } from 'node:test'; test('a', () => {});";
const manifest = (scripts: Readonly<Record<string, string>>) => JSON.stringify({ name: 'x', scripts });

describe('[inv-02] a repository does not choose what runs', () => {
  it.each([
    ['row 11: a shell of its own in .npmrc', { '.npmrc': 'script-shell=./evil.sh\n' }],
    ['row 11: options of Node in .npmrc', { '.npmrc': 'node-options=--require=./evil.cjs\n' }],
    ['row 12: a script before the test', { 'package.json': manifest({ pretest: 'sh evil.sh', test: 'node --test' }) }],
  ])('%s', async (_, files) => {
    const commit = await bench.publish({
      'package.json': manifest({ test: 'node --test' }),
      'a.test.mjs': TEST,
      'evil.sh': { text: '#!/bin/sh\necho EVIL\n', mode: 0o755 },
      'evil.cjs': "console.log('EVIL');",
      ...files,
    });
    const report = await bench.run(commit, ['npm', 'test']);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 1, passed: 1 } });
    expect(said()).not.toContain('EVIL');
  });

  it('rows 18 to 20: a compiler, a wrapper, a runner and a toolchain of its own for cargo', async () => {
    const commit = await bench.publish({
      'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
      'src/lib.rs': '#[test]\nfn fails() { panic!(); }\n',
      'rust-toolchain.toml': '[toolchain]\npath = "evil"\n',
      '.cargo/config.toml':
        '[build]\nrustc = "./evil.sh"\nrustc-wrapper = "./evil.sh"\n[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n[target.aarch64-unknown-linux-gnu]\nrunner = "true"\n',
      'evil.sh': { text: '#!/bin/sh\necho EVIL >&2\nexit 1\n', mode: 0o755 },
    });
    const report = await bench.run(commit, ['cargo', 'test'], { timeoutSecs: 50 });
    expect(said()).not.toContain('EVIL');
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 101, tests: { executed: 1, failed: 1 } });
  });
});
