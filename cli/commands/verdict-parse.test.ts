import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutput } from '../output.ts';
import { verdictParse } from './verdict-parse.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'verdict-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(message: string | Uint8Array, json = true) {
  const file = join(directory, 'message.md');
  writeFileSync(file, message);
  const printed: string[] = [];
  const stream = { write: (chunk: string | Uint8Array) => printed.push(String(chunk)) };
  const output = createOutput({ json, debug: false, color: false }, { stdout: stream, stderr: stream });
  return { exit: await verdictParse({ file }, output), printed: printed.join('') };
}

const fenced = (json: string) => `Prose.\n\n\`\`\`json\n${json}\n\`\`\`\n`;

test('an approval exits 0', async () => {
  const { exit, printed } = await run(fenced('{"verdict":"APPROVED"}'));
  expect(exit).toBe(0);
  expect(printed).toBe(
    '{"schema":"portcullis/v1","kind":"Verdict","verdict":"APPROVED","verdict_token":null,"failure_class":null,"route":"proceed","reason":null,"detail":null}\n',
  );
});

test.each([
  ['RETRY_FORJA', 'retry_producer'],
  ['NEEDS_HUMAN', 'human'],
  ['BLOCKED_UPSTREAM', 'stop'],
])('a rejection exits 3 whatever its route: %s', async (token, route) => {
  const { exit, printed } = await run(fenced(`{"verdict_token":"${token}","failure_class":"TEST_FAIL"}`));
  expect(exit).toBe(3);
  expect(JSON.parse(printed)).toMatchObject({
    verdict: 'REJECTED',
    verdict_token: token,
    failure_class: 'test-fail',
    route,
    reason: null,
  });
});

test.each<[string, string | Uint8Array, string]>([
  ['no block', 'APPROVED', 'no_block'],
  ['an empty file', '', 'no_block'],
  ['bytes that are no UTF-8', Uint8Array.of(0xff), 'message_not_utf8'],
  ['a huge file', new Uint8Array(5_000_000), 'message_too_large'],
])('what cannot be read exits 5 with the reason: %s', async (_, message, reason) => {
  const { exit, printed } = await run(message);
  expect(exit).toBe(5);
  expect(JSON.parse(printed)).toMatchObject({ verdict: 'UNPARSEABLE', route: 'reask', reason });
});

test('for people it says the verdict, why, and what happens next', async () => {
  expect((await run(fenced('{"verdict":"REJECTED"}'), false)).printed).toBe(
    'verdict  UNPARSEABLE rejected_without_token\n' +
      'reason   A rejection needs one of RETRY_FORJA, NEEDS_HUMAN, BLOCKED_UPSTREAM.\n' +
      'route    reask: the reviewer is asked once more with the reason, then a human\n',
  );
});

test('- reads stdin', async () => {
  const output = createOutput(
    { json: true, debug: false, color: false },
    { stdout: { write: () => 0 }, stderr: process.stderr },
  );
  const stdin = Readable.from([Buffer.from('```json\n{"verdict":'), Buffer.from('"APPROVED"}\n```')]);
  expect(await verdictParse({ file: '-', stdin }, output)).toBe(0);
});

test('a file that is not there is not found, a directory cannot be read', async () => {
  const output = createOutput({ json: true, debug: false, color: false });
  await expect(verdictParse({ file: join(directory, 'none.md') }, output)).rejects.toMatchObject({ code: 'not_found' });
  await expect(verdictParse({ file: directory }, output)).rejects.toMatchObject({ code: 'usage' });
});
