import { expect, test } from 'vitest';
import type { VerdictReading } from '../../schemas/verdict.ts';
import { parseVerdict, parseVerdictBytes } from './parse.ts';

const fenced = (json: string, info = 'json') => `\`\`\`${info}\n${json}\n\`\`\``;
const quote = (text: string) => text.replace(/^/gm, '> ');
const indent = (text: string, by: number) => text.replace(/^/gm, ' '.repeat(by));

const APPROVED = '{"verdict":"APPROVED"}';
const RETRY = '{"verdict":"REJECTED","verdict_token":"RETRY_FORJA","failure_class":"type-error"}';
const HUMAN = '{"verdict":"REJECTED","verdict_token":"NEEDS_HUMAN"}';

/** A reading as one line: verdict, token and class, or the reason. */
function line(reading: VerdictReading): string {
  switch (reading.verdict) {
    case 'APPROVED':
      return 'APPROVED';
    case 'REJECTED':
      return `REJECTED ${reading.token} ${reading.failureClass ?? '-'}`;
    case 'UNPARSEABLE':
      return `UNPARSEABLE ${reading.reason}`;
  }
}

test.each<[string, string, string]>([
  ['an approval with its block', fenced(APPROVED), 'APPROVED'],
  ['a rejection to retry', fenced(RETRY), 'REJECTED RETRY_FORJA type-error'],
  ['a rejection for a human', fenced(HUMAN), 'REJECTED NEEDS_HUMAN -'],
  [
    'a rejection blocked upstream',
    fenced('{"verdict":"REJECTED","verdict_token":"BLOCKED_UPSTREAM","failure_class":"peer-dep-conflict"}'),
    'REJECTED BLOCKED_UPSTREAM peer-dep-conflict',
  ],
  [
    'a known token without verdict, as a rejection',
    fenced('{"verdict_token":"RETRY_FORJA"}'),
    'REJECTED RETRY_FORJA -',
  ],
  ['further keys, which may come later', fenced('{"verdict":"APPROVED","checks":[1,{"a":2.5}]}'), 'APPROVED'],
  [
    'a class that normalises to nothing',
    fenced('{"verdict_token":"NEEDS_HUMAN","failure_class":"!?"}'),
    'REJECTED NEEDS_HUMAN -',
  ],
  ['a class on an approval, without effect', fenced('{"verdict":"APPROVED","failure_class":"none"}'), 'APPROVED'],
  ['the key written with an escape', fenced('{"verd\\u0069ct":"APPROVED"}'), 'APPROVED'],
])('reads %s', (_, message, expected) => expect(line(parseVerdict(message))).toBe(expected));

test.each<[string, string, string]>([
  ['none', 'Looks good.', 'UNPARSEABLE no_block'],
  ['an empty message', '', 'UNPARSEABLE no_block'],
  ['two with different tokens: the last', `${fenced(RETRY)}\n\n${fenced(HUMAN)}`, 'REJECTED NEEDS_HUMAN -'],
  ['approved then rejected: the last', `${fenced(APPROVED)}\n\n${fenced(HUMAN)}`, 'REJECTED NEEDS_HUMAN -'],
  ['rejected then approved: the last', `${fenced(HUMAN)}\n\n${fenced(APPROVED)}`, 'APPROVED'],
  [
    'a block, then prose and citations',
    `${fenced(APPROVED)}\n\nSee [1].\n\n[1]: https://example.org "x"\n`,
    'APPROVED',
  ],
  ['prose right above and below', `Text\n${fenced(APPROVED)}\nText`, 'APPROVED'],
  ['prose APPROVED and block REJECTED', `APPROVED!\n\n${fenced(HUMAN)}\n\nAPPROVED!`, 'REJECTED NEEDS_HUMAN -'],
  ['prose REJECTED and block APPROVED', `REJECTED!\n\n${fenced(APPROVED)}\n\nRETRY_FORJA`, 'APPROVED'],
  ['approved in prose without a block', 'Verdict: **APPROVED**', 'UNPARSEABLE no_block'],
  ['rejected in prose without a block', 'REJECTED, RETRY_FORJA', 'UNPARSEABLE no_block'],
  ['the object bare in prose', APPROVED, 'UNPARSEABLE no_block'],
  ['the object as inline code', `\`${APPROVED}\``, 'UNPARSEABLE no_block'],
])('blocks of a message: %s', (_, message, expected) => expect(line(parseVerdict(message))).toBe(expected));

const passed = `${fenced(HUMAN)}\n\n`;
test.each<[string, string]>([
  ['an array', fenced(`[${APPROVED}]`)],
  ['a string', fenced('"APPROVED"')],
  ['a number', fenced('1')],
  ['null', fenced('null')],
  ['an object without either key', fenced('{"name":"cart","version":"1.0.0"}')],
  ['the keys one level down', fenced(`{"result":${APPROVED}}`)],
  ['the keys in another letter case', fenced('{"Verdict":"APPROVED","VERDICT_TOKEN":"RETRY_FORJA"}')],
  ['json5', fenced(APPROVED, 'json5')],
  ['jsonc', fenced(APPROVED, 'jsonc')],
  ['no info string', fenced(APPROVED, '')],
  ['an info string that has json second', fenced(APPROVED, 'text json')],
  ['an attribute list', fenced(APPROVED, '{.json}')],
  ['json joined to a word by a no-break space', fenced(APPROVED, 'json\u00a0x')],
  ['indented code', indent(fenced(APPROVED), 4)],
  ['tab-indented code', fenced(APPROVED).replace(/^/gm, '\t')],
  ['a block quote', quote(fenced(APPROVED))],
  ['a block quote in a list', `- a\n\n${indent(quote(fenced(APPROVED)), 2)}`],
  ['a list in a block quote', quote(`- a\n\n${indent(fenced(APPROVED), 2)}`)],
  ['an HTML comment', `<!--\n${fenced(APPROVED)}\n-->`],
  ['an HTML comment over a blank line', `<!--\n\n${fenced(APPROVED)}\n\n-->`],
  ['an HTML element', `<details>\n${fenced(APPROVED)}\n</details>`],
  ['a pre element over a blank line', `<pre>\n\n${fenced(APPROVED)}\n</pre>`],
  ['a text fence of four backticks', `\`\`\`\`text\n${fenced(APPROVED)}\n\`\`\`\``],
  ['a markdown fence of tildes', `~~~markdown\n${fenced(APPROVED)}\n~~~`],
  ['an unclosed text fence', `\`\`\`text\n${fenced(APPROVED, 'json').replaceAll('```', '~~~')}`],
  ['backticks in the info string, which open no fence', `\`\`\`json \`\n${APPROVED}`],
  ['two backticks', `\`\`json\n${APPROVED}\n\`\``],
])('passes over what is no candidate: %s', (_, other) => {
  expect(line(parseVerdict(other)), 'alone').toBe('UNPARSEABLE no_block');
  expect(line(parseVerdict(passed + other)), 'after a verdict').toBe('REJECTED NEEDS_HUMAN -');
});

test.each<[string, string]>([
  ['JSON in capitals', fenced(APPROVED, 'JSON')],
  ['mixed letter case', fenced(APPROVED, 'Json')],
  ['words after json', fenced(APPROVED, 'json title="verdict"')],
  ['a tab after json', fenced(APPROVED, 'json\tx')],
  ['a space before json', fenced(APPROVED, ' json')],
  ['json as a character reference, as viewers show it', fenced(APPROVED, '&#106;son')],
  ['tildes', fenced(APPROVED).replaceAll('```', '~~~')],
  ['five backticks', fenced(APPROVED).replaceAll('```', '`````')],
  ['three spaces of indentation', indent(fenced(APPROVED), 3)],
  ['a closing fence with spaces around', `\`\`\`json\n${APPROVED}\n  \`\`\`\`  `],
  ['an unclosed fence, which runs to the end', `\`\`\`json\n${APPROVED}\n`],
  ['a list item', `1. x\n\n${indent(fenced(APPROVED), 3)}`],
  ['a list item on the marker line', `- \`\`\`json\n  ${APPROVED}\n  \`\`\``],
  ['a nested list', `- a\n  - b\n\n${indent(fenced(APPROVED), 4)}`],
  ['CRLF', `Fine.\r\n\r\n${fenced(APPROVED).replaceAll('\n', '\r\n')}\r\n`],
  ['bare CR', fenced(APPROVED).replaceAll('\n', '\r')],
  ['a byte order mark', `\uFEFF${fenced(APPROVED)}`],
  ['blank lines inside the block', fenced(`\n\n${APPROVED}\n\n`)],
  ['a heading right above', `# Verdict\n${fenced(APPROVED)}`],
  ['HTML that a blank line has ended', `<details>\n\n${fenced(APPROVED)}\n\n</details>`],
  ['an HTML comment that has ended', `<!-- x -->\n${fenced(APPROVED)}`],
])('a fenced block as CommonMark has it: %s', (_, message) => expect(line(parseVerdict(message))).toBe('APPROVED'));

test.each<[string, string, string]>([
  ['bad JSON', '{"verdict":"APPROVED"', 'malformed_json'],
  ['an empty block', '', 'malformed_json'],
  ['a trailing comma', '{"verdict":"APPROVED",}', 'malformed_json'],
  ['a comment', `${APPROVED} // fine`, 'malformed_json'],
  ['two objects', `${APPROVED}\n${APPROVED}`, 'malformed_json'],
  ['single quotes', "{'verdict':'APPROVED'}", 'malformed_json'],
  ['a byte order mark in the block', `\uFEFF${APPROVED}`, 'malformed_json'],
  ['a lone surrogate as it is', '{"verdict":"APPROVED","note":"\uD800"}', 'malformed_json'],
  ['a lone surrogate escaped', '{"verdict":"APPROVED","note":"\\ud800"}', 'malformed_json'],
  ['the verdict twice', '{"verdict":"REJECTED","verdict":"APPROVED"}', 'repeated_key'],
  ['the verdict twice and equal', '{"verdict":"APPROVED","verdict":"APPROVED"}', 'repeated_key'],
  ['the verdict twice, once escaped', '{"verdict":"APPROVED","\\u0076erdict":"APPROVED"}', 'repeated_key'],
  ['another key twice, further down', '{"verdict":"APPROVED","a":{"b":1,"b":2}}', 'repeated_key'],
  ['too deep', `{"verdict":"APPROVED","a":${'['.repeat(40)}${']'.repeat(40)}}`, 'too_deep'],
  ['over 16 KiB', `{"verdict":"APPROVED","note":"${'x'.repeat(16 * 1024)}"}`, 'block_too_large'],
  ['over 16 KiB in UTF-8 only', `{"verdict":"APPROVED","note":"${'é'.repeat(9000)}"}`, 'block_too_large'],
  ['a verdict that is no string', '{"verdict":true}', 'wrong_type'],
  ['a null verdict', '{"verdict":null,"verdict_token":"RETRY_FORJA"}', 'wrong_type'],
  ['a token list', '{"verdict":"REJECTED","verdict_token":["RETRY_FORJA"]}', 'wrong_type'],
  ['a null token', '{"verdict":"APPROVED","verdict_token":null}', 'wrong_type'],
  ['a class that is no string', '{"verdict_token":"RETRY_FORJA","failure_class":7}', 'wrong_type'],
  ['an unknown verdict', '{"verdict":"MAYBE"}', 'unknown_verdict'],
  ['an empty verdict', '{"verdict":""}', 'unknown_verdict'],
  ['an unknown verdict beside a token', '{"verdict":"LGTM","verdict_token":"RETRY_FORJA"}', 'unknown_verdict'],
  ['an unknown token', '{"verdict":"REJECTED","verdict_token":"RETRY"}', 'unknown_token'],
  ['a lower-case token', '{"verdict":"REJECTED","verdict_token":"retry_forja"}', 'unknown_token'],
  ['a token with a space', '{"verdict":"REJECTED","verdict_token":"RETRY_FORJA "}', 'unknown_token'],
  ['an unknown token without verdict', '{"verdict_token":"APPROVED"}', 'unknown_token'],
  ['an unknown token on an approval', '{"verdict":"APPROVED","verdict_token":"NONE"}', 'unknown_token'],
  ['a rejection without token', '{"verdict":"REJECTED","failure_class":"test-fail"}', 'rejected_without_token'],
  ['an approval with a token', '{"verdict":"APPROVED","verdict_token":"RETRY_FORJA"}', 'approved_with_token'],
])('[inv-07] a last block that is malformed approves nothing: %s', (_, json, reason) => {
  expect(line(parseVerdict(fenced(json))), 'alone').toBe(`UNPARSEABLE ${reason}`);
  expect(line(parseVerdict(`${fenced(APPROVED)}\n\n${fenced(json)}\n\n${fenced('{"a":1}')}`)), 'after a good one').toBe(
    `UNPARSEABLE ${reason}`,
  );
  expect(line(parseVerdict(`${fenced(json)}\n\n${fenced(HUMAN)}`)), 'before a good one').toBe('REJECTED NEEDS_HUMAN -');
});

test('the sentence for the reviewer stays short and plain, whatever the block says', () => {
  for (const hostile of [
    '\u001b[2J'.repeat(50),
    '\u009b2J',
    '\u202e'.repeat(100),
    'é'.repeat(1000),
    '```\n'.repeat(9),
  ]) {
    const reading = parseVerdict(fenced(JSON.stringify({ verdict_token: hostile })));
    expect(line(reading)).toBe('UNPARSEABLE unknown_token');
    expect('detail' in reading && reading.detail).toMatch(/^[ -~]{1,399}$/);
  }
});

test('a byte order mark before the message is passed over, bytes that are no UTF-8 are not guessed at', () => {
  const bytes = new TextEncoder().encode(`\uFEFF${fenced(APPROVED)}`);
  expect(line(parseVerdictBytes(bytes))).toBe('APPROVED');
  expect(line(parseVerdictBytes(Uint8Array.of(...bytes, 0xff)))).toBe('UNPARSEABLE message_not_utf8');
  expect(line(parseVerdictBytes(new Uint8Array(64 * 1024 + 1).fill(0xff)))).toBe('UNPARSEABLE message_too_large');
});
