import { describe, expect, test } from 'vitest';
import { contentDigest } from '../digest.ts';
import type { ExecutorReport } from './report.ts';
import { executorReportSchema, heartbeatDetailsSchema } from './report.schema.ts';

const stream = {
  bytes: 0,
  stored: 0,
  truncated: false,
  stored_digest: contentDigest(new Uint8Array()),
  full_digest: contentDigest(new Uint8Array()),
  chunks: 0,
  chunks_failed: 0,
};
const report: ExecutorReport = {
  schema: 'portcullis/executor-report/v1',
  outcome: 'completed',
  reason: '',
  argv_executed: ['node', '--test'],
  exit_code: 0,
  signal: null,
  duration_ms: 1,
  stdout: stream,
  stderr: stream,
  artifacts: [],
  missing_artifacts: [],
  tree_after: null,
  tests: { executed: 1, passed: 1, failed: 0, skipped: 0, provenance: 'reporter_file' },
  toolchain: null,
  prepare: null,
  sandbox: { containment: 'bubblewrap', network: 'none', limits: { processes: 64 } },
};

describe('[inv-19] a report', () => {
  test('passes when it is one', () => {
    expect(executorReportSchema.parse(report)).toEqual(report);
    const killed = { ...report, exit_code: null, signal: 'SIGKILL', tests: 'unknown' };
    expect(executorReportSchema.parse(killed)).toEqual(killed);
  });

  test.each<[string, object]>([
    ['an unknown key', { verdict: 'pass' }],
    ['another schema', { schema: 'portcullis/executor-report/v2' }],
    ['an outcome that is none', { outcome: 'passed' }],
    ['an exit code out of range', { exit_code: 256 }],
    ['an exit code that is text', { exit_code: '0' }],
    ['an exit code and a signal', { signal: 'SIGKILL' }],
    ['neither of them', { exit_code: null }],
    ['a negative duration', { duration_ms: -1 }],
    ['a long reason', { reason: 'x'.repeat(1_025) }],
    ['a NUL', { reason: 'a\0b' }],
    ['half a character', { reason: '\ud800' }],
    ['more stored than written', { stdout: { ...stream, stored: 1 } }],
    ['a cut it does not own up to', { stdout: { ...stream, bytes: 1 } }],
    ['more stored than is kept', { stdout: { ...stream, bytes: 2_000_000, stored: 2_000_000 } }],
    ['a digest that is none', { stdout: { ...stream, stored_digest: 'sha256:0' } }],
    ['more passed than ran', { tests: { executed: 1, passed: 2, failed: 0, skipped: 0, provenance: 'stdout' } }],
    ['too many artifacts', { artifacts: Array(257).fill({ path: 'a', sha256: stream.full_digest, bytes: 0 }) }],
  ])('is refused with %s', (_, change) => {
    expect(executorReportSchema.safeParse({ ...report, ...change }).success).toBe(false);
  });

  test('heartbeat details name a phase and nothing else', () => {
    expect(heartbeatDetailsSchema.safeParse({ phase: 'running' }).success).toBe(true);
    expect(heartbeatDetailsSchema.safeParse({ phase: 'running', note: 'x' }).success).toBe(false);
    expect(heartbeatDetailsSchema.safeParse({ phase: 'thinking' }).success).toBe(false);
  });
});
