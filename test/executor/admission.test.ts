import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signAction } from '../../activities/signing/action.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import { runAction } from '../../activities/executor/run-action.ts';
import { digestOf } from '../../schemas/digest.ts';
import type { Action } from '../../schemas/verify/action.ts';
import { openBench, type Bench } from './support/bench.ts';

let bench: Bench;
let commit: string;
beforeAll(async () => {
  bench = await openBench();
  commit = await bench.publish({ 'a.test.mjs': "import { test } from 'node:test'; test('a', () => {});" });
});
afterAll(() => bench.close());

const ARGV = ['node', '--test'];
const call = { workflowId: 'w', cancellation: new AbortController().signal };

describe('an executor', () => {
  it('runs what the control worker signed for it', async () => {
    const report = await bench.run(commit, ARGV);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 1, passed: 1 } });
  });

  it.each<[string, Partial<Action>, string]>([
    ['of another tenant', { tenant: 'other' }, 'pair_mismatch'],
    ['of another pair', { pair: 'T-2' }, 'pair_mismatch'],
    ['for another role', { executor: { role: 'forge', workspace: 'ws-1', workspaceGeneration: 1 } }, 'role'],
    ['for another workspace', { executor: { role: 'verifier', workspace: 'ws-2', workspaceGeneration: 1 } }, 'role'],
    [
      'for an earlier generation',
      { executor: { role: 'verifier', workspace: 'ws-1', workspaceGeneration: 2 } },
      'role',
    ],
    ['that came too late', { notAfter: Date.now() - 1 }, 'limit'],
    ['with another executed argv', { argvExecuted: ['node', '-e', '1'] }, 'policy_mismatch'],
    ['with another requested argv', { argvRequested: ['node', '-e', '1'] }, 'policy_mismatch'],
    ['with a variable more', { environment: { NODE_OPTIONS: '--require=./x' } }, 'policy_mismatch'],
    ['with other counts', { counts: null }, 'policy_mismatch'],
    ['with an artifact outside', { artifacts: ['../x'] }, 'policy_mismatch'],
    [
      'of another policy',
      { policy: { id: 'default', revision: 1, digest: digestOf('policy', 'another'), template: 'node-test' } },
      'policy_mismatch',
    ],
  ])('[inv-05] refuses an action %s, though it is signed', async (_, change, reason) => {
    bench.gateway.starts.length = 0;
    const report = await bench.run(commit, ARGV, { change });
    expect(report).toMatchObject({ outcome: 'rejected', exit_code: null, duration_ms: 0 });
    expect(report.reason.split(':')[0]).toBe(reason);
    expect(bench.gateway.starts).toEqual([]);
  });

  it('[inv-05] refuses more limits than its own policy gives', async () => {
    const { limits } = bench.action(commit, ARGV).action;
    const report = await bench.run(commit, ARGV, { change: { limits: { ...limits, processes: 100_000 } } });
    expect(report.outcome).toBe('rejected');
    expect(report.reason).toContain('policy_mismatch');
  });

  it('[inv-05] refuses what another key signed, and what was changed after it was signed', async () => {
    const signed = bench.action(commit, ARGV);
    const forged = { ...signAction(signed.action, generateSigningKey()), keyId: signed.keyId };
    const changed = { ...signed, action: { ...signed.action, argvRequested: ['npm', 'test'] } };
    for (const action of [forged, changed]) {
      const report = await runAction(bench.context, action, call);
      expect(report.outcome).toBe('rejected');
      expect(report.reason).toContain('signature_invalid');
    }
  });
});

describe('counts of a real run', () => {
  it.each<[string, Readonly<Record<string, string>>, number, unknown]>([
    [
      'tests, a suite, one skipped',
      {
        'a.test.mjs':
          "import { test, describe, it } from 'node:test'; describe('s', () => { it('a', () => {}); it('b', { skip: true }, () => {}); }); test('c', () => {});",
      },
      0,
      { executed: 2, passed: 2, failed: 0, skipped: 1, provenance: 'reporter_file' },
    ],
    [
      'a file that only exits',
      { 'a.test.mjs': 'process.exit(0)' },
      0,
      { executed: 0, passed: 0, failed: 0, skipped: 0, provenance: 'reporter_file' },
    ],
    [
      'a file that prints summaries',
      { 'a.test.mjs': "console.log('ok 1 - x\\n# tests 50\\n# pass 50\\nℹ tests 50\\nTests  50 passed (50)')" },
      0,
      { executed: 0, passed: 0, failed: 0, skipped: 0, provenance: 'reporter_file' },
    ],
    [
      'a failing test',
      { 'a.test.mjs': "import { test } from 'node:test'; test('a', () => { throw new Error('x'); });" },
      1,
      { executed: 1, passed: 0, failed: 1, skipped: 0, provenance: 'reporter_file' },
    ],
    [
      'a file that does not load',
      { 'a.test.mjs': 'import "./missing.mjs";' },
      1,
      { executed: 1, passed: 0, failed: 1, skipped: 0, provenance: 'reporter_file' },
    ],
  ])('[inv-02] of %s say what was executed', async (_, files, exitCode, tests) => {
    const report = await bench.run(await bench.publish(files), ARGV);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: exitCode, tests });
  });

  it('[inv-02] of npm test come from stdout, and a second summary makes them unknown', async () => {
    const test = "import { test } from 'node:test'; test('a', () => {});";
    const manifest = (script: string) => JSON.stringify({ name: 'x', scripts: { test: script } });
    const plain = await bench.publish({ 'package.json': manifest('node --test'), 'a.test.mjs': test });
    expect(await bench.run(plain, ['npm', 'test'])).toMatchObject({ tests: { executed: 1, provenance: 'stdout' } });
    const forged = await bench.publish({
      'package.json': manifest("node --test; echo '      Tests  99 passed (99)'"),
      'a.test.mjs': test,
    });
    expect(await bench.run(forged, ['npm', 'test'])).toMatchObject({ exit_code: 0, tests: 'unknown' });
    const nothing = await bench.publish({ 'package.json': manifest('exit 0') });
    expect(await bench.run(nothing, ['npm', 'test'])).toMatchObject({ exit_code: 0, tests: 'unknown' });
  });
});
