import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PortcullisError } from './errors.ts';
import { readStrictJson } from './strict-json.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

function codeOf(bytes: Uint8Array, limits?: { maxBytes: number; maxDepth: number }): string {
  try {
    readStrictJson(bytes, limits);
    return 'accepted';
  } catch (error) {
    if (error instanceof PortcullisError) return error.code;
    throw error;
  }
}

test('any JSON value that JSON.stringify writes reads back the same, with and without spaces', () => {
  let runs = 0;
  const value = fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }).filter((v) => {
    const text = JSON.stringify(v);
    return !text.includes('"__proto__"');
  });
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (v, indent) => {
      runs += 1;
      const text = JSON.stringify(v, null, indent);
      expect(readStrictJson(utf8(text))).toStrictEqual(JSON.parse(text));
    }),
    { numRuns: 3000 },
  );
  expect(runs).toBeGreaterThanOrEqual(3000);
});

/** Random token soup: near the grammar, so that both outcomes are common. */
const soup = fc
  .array(
    fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"\\u0061"', '"\\ud800"', '"\\"', '"\\\\"', '"', '\\', '1', '-0'],
      ...['true', 'null', ' ', '\n', '{"a":1}', '{"a":1,"a":2}', '[[[', ']]]', '1e3', '"\\u00e9,"', '\t"'],
    ),
    { maxLength: 12 },
  )
  .map((tokens) => tokens.join(''));

test('accepts nothing that JSON.parse refuses, and gives the same value where it accepts', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(soup, (text) => {
      let ours: unknown;
      try {
        ours = readStrictJson(utf8(text));
      } catch (error) {
        expect(error).toBeInstanceOf(PortcullisError);
        seen.refused += 1;
        return;
      }
      seen.accepted += 1;
      expect(ours).toStrictEqual(JSON.parse(text));
    }),
    { numRuns: 20_000 },
  );
  expect(Math.min(seen.accepted, seen.refused), JSON.stringify(seen)).toBeGreaterThan(500);
});

/** The objects of a document, each as the list of its keys in order, by an independent recursive reader of valid JSON. */
function repeatsAKey(text: string): boolean {
  const objects: string[][] = [];
  const context: (string[] | null)[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g)) {
    if (token === '{') context.push([]);
    else if (token === '[') context.push(null);
    else if (token === '}' || token === ']') {
      const closed = context.pop();
      if (closed) objects.push(closed);
    } else if (token.endsWith(':')) context.at(-1)?.push(String(JSON.parse(token.slice(0, -1))));
  }
  return objects.some((keys) => new Set(keys).size !== keys.length);
}

test('refuses a valid document exactly when an object of it says a key twice', () => {
  const key = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"c"', '"a,"', '"{"', '"\\""');
  const doc = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('1', '"a"', '"a\\":"', 'null', '"}"'),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .array(fc.tuple(key, tie('value')), { maxLength: 4 })
        .map((pairs) => `{${pairs.map(([k, v]) => `${k} : ${v}`).join(' , ')}}`),
    ),
  })).value;
  const seen = { repeated: 0, plain: 0 };
  fc.assert(
    fc.property(doc, (text) => {
      const repeated = repeatsAKey(text);
      seen[repeated ? 'repeated' : 'plain'] += 1;
      expect(codeOf(utf8(text))).toBe(repeated ? 'json_repeated_key' : 'accepted');
    }),
    { numRuns: 5000 },
  );
  expect(Math.min(seen.repeated, seen.plain), JSON.stringify(seen)).toBeGreaterThan(300);
});

test('any bytes at all: a value or an error of the catalogue, nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(codeOf(bytes)).toMatch(/^(accepted|json_malformed|json_not_utf8|json_repeated_key)$/);
    }),
    { numRuns: 3000 },
  );
});

test.each<[string, string, string]>([
  ['a repeated key', '{"status":"failed","status":"passed"}', 'json_repeated_key'],
  ['a key repeated through an escape', '{"x":"failed","\\u0078":"passed"}', 'json_repeated_key'],
  ['a key repeated with an equal value', '{"a":1,"a":1}', 'json_repeated_key'],
  ['a key repeated in an inner object', '[{"k":{"a":1,"b":[],"a":{}}}]', 'json_repeated_key'],
  ['a key repeated after a nested object that has it too', '{"a":{"a":1},"a":2}', 'json_repeated_key'],
  ['a repeated empty key', '{"":1,"":2}', 'json_repeated_key'],
  ['__proto__', '{"__proto__":{"admin":true}}', 'json_malformed'],
  ['__proto__ through an escape', '{"\\u005f_proto__":{}}', 'json_malformed'],
  ['a lone surrogate escape', '{"a":"\\ud800"}', 'json_malformed'],
  ['a lone surrogate escape in a key', '{"\\udc00":1}', 'json_malformed'],
  ['nothing', '', 'json_malformed'],
  ['two documents', '{}{}', 'json_malformed'],
  ['a trailing comma', '[1,]', 'json_malformed'],
  ['a comment', '{}//x', 'json_malformed'],
  ['NaN', '[NaN]', 'json_malformed'],
  ['an open string', '{"a":"b', 'json_malformed'],
  ['a string that ends in a backslash', '"\\"', 'json_malformed'],
  ['a control character in a string', '"a\u0000"', 'json_malformed'],
  ['a bracket that closes another', '[}', 'json_malformed'],
])('[inv-19] refuses %s', (_, text, code) => expect(codeOf(utf8(text))).toBe(code));

test('the same key in different objects is no repeat, nor is a value equal to a key', () => {
  expect(readStrictJson(utf8('{"a":{"a":"a","b":["a","a"]},"b":{"a":1}}'))).toEqual({
    a: { a: 'a', b: ['a', 'a'] },
    b: { a: 1 },
  });
});

test.each<[string, readonly number[]]>([
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['a surrogate encoded in three bytes', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a cut sequence', [0x22, 0xe2, 0x82, 0x22]],
  ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
])('[inv-19] refuses %s as not UTF-8', (_, bytes) => expect(codeOf(Uint8Array.from(bytes))).toBe('json_not_utf8'));

test('depth is counted in open containers and its bound is exact', () => {
  const nested = (levels: number) => utf8('['.repeat(levels) + ']'.repeat(levels));
  expect(codeOf(nested(64))).toBe('accepted');
  expect(codeOf(nested(65))).toBe('json_too_deep');
  expect(codeOf(nested(3), { maxBytes: 100, maxDepth: 2 })).toBe('json_too_deep');
});

test('the byte cap counts bytes, and its bound is exact', () => {
  expect(codeOf(utf8('"é"'), { maxBytes: 4, maxDepth: 1 })).toBe('accepted');
  expect(codeOf(utf8('"é"'), { maxBytes: 3, maxDepth: 1 })).toBe('body_too_large');
});

test.each<[string, string, string]>([
  ['half a million open brackets', '['.repeat(500_000), 'json_too_deep'],
  ['a megabyte of backslashes', `"${'\\'.repeat(1_000_000)}`, 'json_malformed'],
  ['quotes that are all escaped', `"${'\\"'.repeat(500_000)}`, 'json_malformed'],
  ['80,000 keys', `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join(',')}}`, 'accepted'],
  ['60,000 strings, the escape only in the last', `[${'"aaaaaaaa",'.repeat(60_000)}"\\u0061"]`, 'accepted'],
])('[inv-19] is bounded in time on %s', (_, text, code) => {
  const start = performance.now();
  expect(codeOf(utf8(text))).toBe(code);
  expect(performance.now() - start, 'milliseconds; quadratic would take minutes').toBeLessThan(2000);
});

test('the reason never quotes the document', () => {
  let message = '';
  try {
    readStrictJson(utf8('{"password":"hunter2" oops}'));
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain('is not JSON');
  expect(message).not.toContain('hunter2');
});
