import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_COMMAND_BYTES, readPushCommands, refusalOf, refusalReport } from './push-commands.ts';

const [OLD, NEW, ZERO] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)];
const REF = 'refs/heads/portcullis/T-1';
const packet = (text: string) => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
const body = (...lines: string[]) => Buffer.from(`${lines.map(packet).join('')}0000PACK…`);
const refusal = (...lines: string[]) => {
  const read = readPushCommands(body(...lines));
  return read === null ? 'short' : refusalOf(read, REF);
};

describe('[inv-05] a push', () => {
  test('of its own branch is let through, new or moved', () => {
    expect(refusal(`${OLD} ${NEW} ${REF}\0report-status side-band-64k`)).toBeNull();
    expect(refusal(`shallow ${OLD}\n`, `${ZERO} ${NEW} ${REF}\0report-status\n`)).toBeNull();
    expect(refusal()).toBeNull();
  });

  test.each([
    ['another branch', `${OLD} ${NEW} refs/heads/main\0`],
    ["the control plane's refs", `${OLD} ${NEW} refs/portcullis/reviews/T-1\0`],
    ['a branch of a longer name', `${OLD} ${NEW} ${REF}1\0`],
    ['a branch below its own', `${OLD} ${NEW} ${REF}/x\0`],
    ['nothing, which deletes', `${OLD} ${ZERO} ${REF}\0`],
  ])('of %s is refused', (_, line) => {
    expect(refusal(line)).toMatch(/this credential pushes|not deleted/);
  });

  test('of two refs is refused whole', () => {
    expect(refusal(`${OLD} ${NEW} ${REF}\0`, `${OLD} ${NEW} refs/heads/main`)).toContain('one ref at a time');
  });
});

describe('[inv-19] a list of commands', () => {
  test.each([
    ['push-cert', `push-cert\0report-status`],
    ['a word', 'hello'],
    ['a ref with a space', `${OLD} ${NEW} refs/heads/a b`],
    ['a short id', `${OLD.slice(1)} ${NEW} ${REF}`],
    ['a shallow line after a command', `${OLD} ${NEW} ${REF}\0`, `shallow ${OLD}`],
    ['a NUL in its capabilities', `${OLD} ${NEW} ${REF}\0a\0b`],
    ['capabilities said twice', `${OLD} ${NEW} ${REF}\0a`, `${OLD} ${NEW} ${REF}\0b`],
  ])('that holds %s is none', (_, ...lines) => {
    expect(() => readPushCommands(body(...lines))).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });

  test.each(['0001', '0002', '0003', '0004', 'zzzz', '-001', '+010', ' 010'])('does not begin with %j', (text) => {
    expect(() => readPushCommands(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });

  test('is waited for until it is whole, and not beyond its bound', () => {
    const whole = body(`${OLD} ${NEW} ${REF}\0report-status`);
    const end = whole.indexOf('0000PACK') + 4;
    for (let length = 0; length < end; length += 1) expect(readPushCommands(whole.subarray(0, length))).toBeNull();
    expect(readPushCommands(whole.subarray(0, end))).not.toBeNull();
    const many = Array.from({ length: 10_000 }, (_, n) => `${OLD} ${NEW} refs/heads/x${n}`);
    expect(() => readPushCommands(body(...many))).toThrow(expect.objectContaining({ code: 'body_too_large' }));
    expect(() => readPushCommands(Buffer.from(`ffff${'x'.repeat(MAX_COMMAND_BYTES)}`))).toThrow(
      expect.objectContaining({ code: 'body_too_large' }),
    );
  });

  test('is answered or refused by name, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          readPushCommands(Buffer.from(bytes));
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: expect.stringMatching(/^(schema_invalid|body_too_large)$/) as string });
        }
      }),
    );
  });
});

test('a refusal is the report that git reads', () => {
  const read = readPushCommands(body(`${OLD} ${NEW} refs/heads/main\0report-status side-band-64k`));
  const report = refusalReport(read ?? { commands: [], capabilities: new Set() }, 'no').toString();
  expect(report).toBe('0031\x01000eunpack ok\n001ang refs/heads/main no\n00000000');
});
