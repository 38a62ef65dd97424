import { describe, expect, it } from 'vitest';
import type { OutputStream } from '../../../schemas/keys.ts';
import type { CountParser } from '../../../schemas/verify/action.ts';
import { createCounter, type Counts } from './counter.ts';

interface Output {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly report?: string | null;
  readonly exitCode?: number;
}

function count(parser: CountParser, { stdout = '', stderr = '', report = null, exitCode = 0 }: Output): Counts {
  const counter = createCounter(parser);
  const feed = (stream: OutputStream, text: string) => {
    for (const line of text.split('\n')) counter.line(stream, line);
  };
  feed('stderr', stderr);
  feed('stdout', stdout);
  return counter.finish({ exitCode, report });
}

const test = (outcome: string, placeholder = false) => JSON.stringify({ kind: 'test', outcome, placeholder });
const total = (tests: number) => JSON.stringify({ kind: 'total', tests });
const END = '{"kind":"end"}';
/** What node prints at the end of a run. */
const summary = (pass: number, fail: number, skipped = 0) =>
  [`tests ${pass + fail + skipped}`, 'suites 0', `pass ${pass}`, `fail ${fail}`, 'cancelled 0', `skipped ${skipped}`]
    .concat(['todo 0', 'duration_ms 12.5'])
    .map((line) => `ℹ ${line}`)
    .join('\n');

describe('counts of node --test, from its reporter file', () => {
  it('counts what passed, failed and was skipped', () => {
    const report = [test('pass'), test('pass'), test('skip'), test('fail'), total(4), END].join('\n');
    expect(count('node-test', { report, stdout: summary(2, 1, 1), exitCode: 1 })).toEqual({
      executed: 3,
      passed: 2,
      failed: 1,
      skipped: 1,
      provenance: 'reporter_file',
    });
  });

  it('counts a file that ran no test for nothing, though the runner calls it passed', () => {
    const report = [test('pass', true), total(1), END].join('\n');
    expect(count('node-test', { report, stdout: summary(1, 0) })).toMatchObject({ executed: 0, passed: 0 });
  });

  it('counts a file that crashed as a failure', () => {
    const report = [test('fail', true), total(1), END].join('\n');
    expect(count('node-test', { report, stdout: summary(0, 1), exitCode: 1 })).toMatchObject({
      executed: 1,
      failed: 1,
    });
  });

  it.each([
    ['missing', null],
    ['empty', ''],
    ['cut off before its end', [test('pass'), total(1)].join('\n')],
    ['cut off in mid-line', `${test('pass')}\n{"kind":"tot`],
    ['without the total', [test('pass'), END].join('\n')],
    ['at odds with its total', [test('pass'), test('pass'), total(1), END].join('\n')],
    ['longer than its end', [test('pass'), total(1), END, test('pass')].join('\n')],
    ['of another form', '<testsuites/>'],
    ['one that saw a failure while the exit code says none', [test('fail'), total(1), END].join('\n')],
  ])('[inv-07] is unknown when the file is %s', (_, report) => {
    for (const stdout of [summary(1, 0), summary(2, 0), summary(0, 1)]) {
      expect(count('node-test', { report, stdout })).toBe('unknown');
    }
  });

  const REPORT = [test('pass'), total(1), END].join('\n');

  it('is borne out by the summary, which may follow output that did not end its line', () => {
    for (const stdout of [
      summary(1, 0),
      `...${summary(1, 0)}`,
      `ℹ tests 50\nhello\n${summary(1, 0)}\n✖ failing tests:`,
    ]) {
      expect(count('node-test', { report: REPORT, stdout })).toMatchObject({ executed: 1 });
    }
  });

  it.each([
    ['there is no summary', ''],
    ['the summary is cut off', summary(1, 0).split('\n').slice(0, 7).join('\n')],
    ['something stands inside the summary', summary(1, 0).replace('ℹ fail', 'hello\nℹ fail')],
    ['the summary says otherwise', summary(2, 0)],
    ['the summary says that it was skipped', summary(0, 0, 1)],
    ['a program printed a summary of its own before', `${summary(50, 0)}\n${summary(1, 0)}`],
    ['a program printed the same summary after', `${summary(1, 0)}\n${summary(1, 0)}`],
  ])('[inv-02] is unknown when %s: the file alone could be written by the code under test', (_, stdout) => {
    expect(count('node-test', { report: REPORT, stdout })).toBe('unknown');
  });

  it('[inv-02] is unknown when the file says more than the runner that printed', () => {
    const forged = [...Array.from({ length: 50 }, () => test('pass')), total(50), END].join('\n');
    expect(count('node-test', { report: forged, stdout: summary(50, 0) })).toMatchObject({ executed: 50 });
    expect(count('node-test', { report: forged, stdout: summary(1, 0) })).toBe('unknown');
    expect(count('node-test', { report: forged, stdout: `${summary(50, 0)}\n${summary(1, 0)}` })).toBe('unknown');
  });
});

const CARGO_STDERR = '     Running unittests src/lib.rs (target/debug/deps/x-1)\n   Doc-tests x';
const CARGO_BLOCK =
  'running 2 tests\ntest a ... ok\ntest b ... ignored\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s';
const CARGO_EMPTY =
  'running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s';

describe('counts of cargo test', () => {
  it('adds the blocks of every binary', () => {
    const counts = count('cargo-test', { stderr: CARGO_STDERR, stdout: `${CARGO_BLOCK}\n${CARGO_EMPTY}` });
    expect(counts).toEqual({ executed: 1, passed: 1, failed: 0, skipped: 1, provenance: 'stdout' });
  });

  it.each([
    ['nothing was reported', ''],
    ['a block is cut off', 'running 2 tests\ntest a ... ok'],
    ['a block has fewer tests than it said', CARGO_BLOCK.replace('test b ... ignored\n', '')],
    ['a summary stands alone', CARGO_BLOCK.split('\n').at(-1) ?? ''],
    ['a block begins inside another', `running 1 test\n${CARGO_BLOCK}`],
    ['there are more blocks than binaries', `${CARGO_BLOCK}\n${CARGO_BLOCK}\n${CARGO_BLOCK}`],
  ])('[inv-07] is unknown when %s', (_, stdout) => {
    expect(count('cargo-test', { stderr: CARGO_STDERR, stdout })).toBe('unknown');
  });
});

const go = (Action: string, Test?: string) => JSON.stringify({ Action, Package: 'x', ...(Test && { Test }) });

describe('counts of go test -json', () => {
  it('counts tests and subtests by how they ended', () => {
    const events = [go('start'), go('run', 'A'), go('pass', 'A'), go('run', 'B'), go('skip', 'B'), go('pass')];
    expect(count('go-test', { stdout: events.join('\n') })).toMatchObject({ executed: 1, passed: 1, skipped: 1 });
  });

  it('counts a package that failed without a failed test', () => {
    expect(count('go-test', { stdout: [go('start'), go('fail')].join('\n'), exitCode: 1 })).toMatchObject({
      failed: 1,
    });
  });

  it('[inv-02] takes what a test prints for output', () => {
    const printed = JSON.stringify({ Action: 'output', Package: 'x', Test: 'A', Output: `${go('pass', 'Z')}\n` });
    const events = [go('start'), go('run', 'A'), printed, go('pass', 'A'), go('pass')];
    expect(count('go-test', { stdout: events.join('\n') })).toMatchObject({ executed: 1 });
  });

  it.each([
    ['nothing was reported', []],
    ['a test never ended', [go('start'), go('run', 'A'), go('pass')]],
    ['a package never ended', [go('start'), go('run', 'A'), go('pass', 'A')]],
    ['a test ended that never began', [go('start'), go('pass', 'A'), go('pass')]],
    ['something else stands between', [go('start'), 'hello', go('pass')]],
  ])('[inv-07] is unknown when %s', (_, events) => {
    expect(count('go-test', { stdout: events.join('\n') })).toBe('unknown');
  });
});

const junit = (attributes: string, cases: number) =>
  `<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" ${attributes} time="0.1">${'<testcase classname="a" name="b" />'.repeat(cases)}</testsuite></testsuites>`;

describe('counts of pytest, from its JUnit report', () => {
  it('reads the totals', () => {
    const report = junit('errors="0" failures="1" skipped="1" tests="3"', 3);
    expect(count('pytest', { report, exitCode: 1 })).toMatchObject({ executed: 2, passed: 1, failed: 1, skipped: 1 });
  });

  it('is borne out by the last line, with its rule or without, or by none at all', () => {
    const report = junit('errors="0" failures="0" skipped="1" tests="2"', 2);
    const line = '1 passed, 1 skipped, 2 warnings in 0.01s';
    for (const stdout of ['', line, `===== ${line} =====`, `a plugin did 3 things in 1.0s\n${line}`]) {
      expect(count('pytest', { report, stdout })).toMatchObject({ passed: 1, skipped: 1, provenance: 'reporter_file' });
    }
  });

  it.each([
    ['says otherwise', '== 1 passed in 0.01s =='],
    ['says otherwise, without its rule', '1 passed in 0.01s'],
    ['stands there twice', '== 2 passed in 0.01s ==\n== 2 passed in 0.01s =='],
  ])('[inv-02] is unknown when the last line %s', (_, stdout) => {
    const report = junit('errors="0" failures="0" skipped="0" tests="2"', 2);
    expect(count('pytest', { report, stdout })).toBe('unknown');
  });

  it.each([
    ['missing', null],
    ['cut off', junit('errors="0" failures="0" skipped="0" tests="1"', 1).slice(0, -5)],
    ['at odds with its cases', junit('errors="0" failures="0" skipped="0" tests="9"', 1)],
    ['without a total', junit('errors="0" failures="0" skipped="0"', 1)],
    ['negative in what passed', junit('errors="0" failures="2" skipped="0" tests="1"', 1)],
  ])('[inv-07] is unknown when it is %s', (_, report) => {
    expect(count('pytest', { report, exitCode: 1 })).toBe('unknown');
  });
});

const NODE = 'ℹ tests 3\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 12.5';
const ESCAPE = String.fromCharCode(27);

describe('counts of a runner that the repository chose, from stdout', () => {
  it.each([
    ['node, spec', NODE, 2, 1],
    ['node, TAP', NODE.replaceAll('ℹ', '#'), 2, 1],
    ['node, in colours', NODE.replaceAll('ℹ', `${ESCAPE}[34mℹ`).replaceAll('\n', `${ESCAPE}[39m\n`), 2, 1],
    ['vitest', '      Tests  2 passed | 1 skipped (3)', 2, 1],
    ['jest', 'Tests:       1 skipped, 2 passed, 3 total', 2, 1],
    ['pytest', '=================== 2 passed, 1 skipped in 0.01s ===================', 2, 1],
  ])('reads %s', (_, stdout, passed, skipped) => {
    expect(count('runner-summary', { stdout })).toMatchObject({ passed, skipped, failed: 0, provenance: 'stdout' });
  });

  it('takes a test file that ran no test off what node counts', () => {
    expect(count('runner-summary', { stdout: `✔ test/empty.test.js (30.1ms)\n${NODE}` })).toMatchObject({ passed: 1 });
  });

  it.each([
    ['nobody reported', 'all good'],
    ['two runners reported', `${NODE}\n      Tests  9 passed (9)`],
    ['one reported twice', `${NODE}\n${NODE}`],
    ['a stray line of a summary stands before it', `ℹ tests 99\nhello\n${NODE}`],
    ['a summary is cut off', NODE.split('\n').slice(0, 4).join('\n')],
    ['a summary does not add up', NODE.replace('pass 2', 'pass 9')],
    ['a total does not add up', '      Tests  2 passed (9)'],
  ])('[inv-07] is unknown when %s', (_, stdout) => {
    expect(count('runner-summary', { stdout })).toBe('unknown');
  });

  it('[inv-07] is unknown when a line was too long to be looked at', () => {
    const counter = createCounter('runner-summary');
    for (const line of NODE.split('\n')) counter.line('stdout', line);
    counter.lost();
    expect(counter.finish({ exitCode: 0, report: null })).toBe('unknown');
  });
});
