import { describe, expect, it } from 'vitest';
import { parseWireRequest } from './request.schema.ts';

const good = {
  task_type: 'verify',
  pair_id: 'T-048',
  verify: {
    kind: 'command',
    cwd: 'repo',
    argv: ['cargo', 'test', '--package', 'foo'],
    timeout_secs: 600,
    expect: { exit_code: 0, artifacts: [] },
    executor: 'verifier',
    subject: { head_sha: 'a'.repeat(40), execution: 'e1', generation: 3 },
    attempt: 1,
  },
};

const withVerify = (change: object) => ({ ...good, verify: { ...good.verify, ...change } });

describe('the wire request', () => {
  it('is read with its defaults filled in', () => {
    const { executor: _executor, subject: _subject, attempt: _attempt, ...rest } = good.verify;
    const parsed = parseWireRequest({ ...good, verify: { ...rest, expect: { exit_code: 0 } } });
    expect(parsed.verify.attempt).toBe(1);
    expect(parsed.verify.expect.artifacts).toEqual([]);
    expect(parsed.verify.subject).toBeUndefined();
  });

  it.each([
    ['an unknown key', { ...good, extra: 1 }],
    ['an unknown key inside', withVerify({ env: { A: 'b' } })],
    ['another task type', { ...good, task_type: 'run' }],
    ['a pair id with a slash', { ...good, pair_id: 'a/b' }],
    ['no command', withVerify({ argv: [] })],
    ['an argv that is text', withVerify({ argv: 'cargo test' })],
    ['33 arguments', withVerify({ argv: Array.from({ length: 33 }, () => 'a') })],
    ['an argument of 257 bytes', withVerify({ argv: ['a'.repeat(257)] })],
    ['an argument of 129 two-byte characters', withVerify({ argv: ['é'.repeat(129)] })],
    ['more than 2 KiB in all', withVerify({ argv: Array.from({ length: 9 }, () => 'a'.repeat(250)) })],
    ['a NUL', withVerify({ argv: ['npm', 'te\0st'] })],
    ['a line break', withVerify({ argv: ['npm', 'te\nst'] })],
    ['a lone surrogate', withVerify({ argv: ['\ud800'] })],
    ['no time', withVerify({ timeout_secs: 0 })],
    ['more than an hour', withVerify({ timeout_secs: 3601 })],
    ['half a second', withVerify({ timeout_secs: 0.5 })],
    ['no expectation', withVerify({ expect: undefined })],
    ['no expected exit code', withVerify({ expect: { artifacts: [] } })],
    ['an artifact outside', withVerify({ expect: { exit_code: 0, artifacts: ['../x'] } })],
    ['an absolute artifact', withVerify({ expect: { exit_code: 0, artifacts: ['/etc/passwd'] } })],
    ['a role without an executor', withVerify({ executor: 'sentinel' })],
    ['an abbreviated commit', withVerify({ subject: { head_sha: 'abc123', execution: 'e1', generation: 1 } })],
    ['attempt 0', withVerify({ attempt: 0 })],
    ['a list', [good]],
    ['null', null],
  ])('[inv-19] %s is refused by name', (_what, value) => {
    expect(() => parseWireRequest(value)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });

  it('answers a reserved kind by name, whatever else it holds', () => {
    expect(() => parseWireRequest({ ...good, verify: { kind: 'artifact_check' } })).toThrow(/reserved/);
  });
});
