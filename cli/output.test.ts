import { expect, test } from 'vitest';
import { portcullisError } from '../schemas/errors.ts';
import { createOutput, duration, table, wantsColor, type OutputOptions } from './output.ts';

function captured(options: Partial<OutputOptions> = {}) {
  const said = { stdout: '', stderr: '' };
  const output = createOutput(
    { json: false, debug: false, color: false, ...options },
    {
      stdout: { write: (chunk) => (said.stdout += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()) },
      stderr: { write: (chunk) => (said.stderr += chunk) },
    },
  );
  return { output, said };
}

test('with --json a result is one object that begins with schema and kind', () => {
  const { output, said } = captured({ json: true });
  output.result('Status', { ready: true }, 'ready');
  expect(said.stdout).toBe('{"schema":"portcullis/v1","kind":"Status","ready":true}\n');
});

test('without it, the text; progress never reaches stdout', () => {
  const { output, said } = captured();
  output.progress('starting');
  output.result('Status', { ready: true }, 'ready');
  expect(said).toEqual({ stdout: 'ready\n', stderr: 'starting\n' });
});

test('[inv-19] nothing that others wrote makes a terminal do anything, on either stream', () => {
  const evil = '\u001b[2Jgone\u001b]0;title\u0007\u202eesrever\r';
  const plain = captured();
  plain.output.result('Task', {}, `first\n${evil}`);
  plain.output.progress(evil);
  plain.output.error(new Error(evil));
  for (const text of Object.values(plain.said)) expect(text).not.toMatch(/[^\P{C}\n]/u);
  expect(plain.said.stdout).toBe('first\n\ufffd[2Jgone\ufffd]0;title\ufffd\ufffdesrever\ufffd\n');
  const json = captured({ json: true });
  json.output.result('Task', { evil: `${evil}\u009b2J\u{e0001}` }, '');
  expect(json.said.stdout).not.toMatch(/[^\P{C}\n]/u);
  expect(JSON.parse(json.said.stdout)).toMatchObject({ evil: `${evil}\u009b2J\u{e0001}` });
  const coloured = captured({ color: true });
  coloured.output.result('Task', {}, `${coloured.output.style('good', 'satisfied')} \u001b[2J`);
  expect(coloured.said.stdout).toBe('\u001b[32msatisfied\u001b[39m \ufffd[2J\n');
});

test('[inv-19] a cell of a table is one line, whatever is in it', () => {
  expect(
    table([
      ['a', 'one\ntwo'],
      ['b', 'x\ty'],
    ]),
  ).toBe('a  one\ufffdtwo\nb  x\ufffdy');
});

test('an error says code, sentence and what to do, and its exit code is the catalogue’s', () => {
  const { output, said } = captured();
  expect(output.error(portcullisError('not_found', { what: 'task', id: 'x' }))).toBe(6);
  expect(said.stderr).toBe('error not_found: There is no task x.\nCheck the id.\n');
  expect(said.stdout).toBe('');
});

test('with --json an error is an object too', () => {
  const { output, said } = captured({ json: true });
  output.error(portcullisError('stack_not_running'));
  expect(JSON.parse(said.stdout)).toMatchObject({
    schema: 'portcullis/v1',
    kind: 'Error',
    code: 'stack_not_running',
    exit: 5,
  });
});

test('a stack is shown with --debug only, also of what nobody foresaw', () => {
  const foreign = new Error('secret detail');
  const plain = captured();
  expect(plain.output.error(foreign)).toBe(1);
  expect(plain.said.stderr).not.toMatch(/secret detail|\n\s+at /);
  const debug = captured({ debug: true });
  debug.output.error(foreign);
  expect(debug.said.stderr).toMatch(/secret detail[\s\S]*\n\s+at /);
});

test('colours only for a terminal that wants them', () => {
  expect(wantsColor(true, {}, true)).toBe(true);
  expect(wantsColor(true, {}, false)).toBe(false);
  expect(wantsColor(false, {}, true)).toBe(false);
  expect(wantsColor(true, { NO_COLOR: '1' }, true)).toBe(false);
  expect(wantsColor(true, { NO_COLOR: '' }, true)).toBe(true);
  expect(wantsColor(true, { TERM: 'dumb' }, true)).toBe(false);
  expect(captured({ color: true }).output.style('bad', 'x')).toContain('\u001b[');
  expect(captured().output.style('bad', 'x')).toBe('x');
});

test('a table pads its columns and leaves no blanks at the end', () => {
  expect(
    table([
      ['A', 'B', 'C'],
      ['long', '', 'x'],
      ['s', 'y', ''],
    ]),
  ).toBe('A     B  C\nlong     x\ns     y');
});

test.each([
  [400, '0 s'],
  [95_000, '1 m 35 s'],
  [3_700_000, '1 h 1 m'],
  [90_000_000, '1 d 1 h'],
])('%i ms are %s', (ms, text) => expect(duration(ms)).toBe(text));
