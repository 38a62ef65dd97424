import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createOutput } from '../output.ts';
import { policyLint, shippedGatePolicies } from './policy-lint.ts';

const directory = mkdtempSync(join(tmpdir(), 'portcullis-lint-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function lint(...files: readonly string[]) {
  const printed: string[] = [];
  const sink = { write: (chunk: string | Uint8Array) => printed.push(String(chunk)) };
  const exit = await policyLint(
    { files },
    createOutput({ json: true, debug: false, color: false }, { stdout: sink, stderr: sink }),
  );
  const result = JSON.parse(printed.join('')) as {
    documents: { kind: string; id: string | null; digest: string | null; problems: { code: string; path: string }[] }[];
  };
  return { exit, documents: result.documents };
}

function edited(name: string, edit: (text: string) => string): string {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, edit(readFileSync(join(shippedGatePolicies(), 'merge.json'), 'utf8')));
  return file;
}

test('every shipped document is valid', async () => {
  const { exit, documents } = await lint();
  expect(exit).toBe(0);
  const gates = documents.filter((document) => document.kind === 'gate').map((document) => document.id);
  expect(gates.sort()).toEqual(['merge', 'operation', 'plan', 'segment']);
  expect(documents.filter(({ kind }) => kind === 'command' || kind === 'routing').map(({ id }) => id)).toEqual([
    'default',
    'default',
  ]);
  expect(documents.every((document) => document.digest !== null)).toBe(true);
});

test('a document with problems exits 3 and names each of them', async () => {
  const file = edited('mild', (text) =>
    text.replace('"unstable": "human_required"', '"unstable": "pass"').replace('"reuse": "none"', '"reuse": "any"'),
  );
  const { exit, documents } = await lint(file);
  expect(exit).toBe(3);
  expect(documents[0]?.problems.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
    'maps_to_pass mapping.unstable',
    'schema reuse',
  ]);
});

test('a routing policy that nobody could be sent by is named as that', async () => {
  const file = join(directory, 'routing.json');
  const rule = { executor: 'verifier', cwd: ['repo'], askedBy: ['forge'] };
  const routing = { schema: 'portcullis/routing-policy/v1', id: 'routing', revision: 1 };
  const defaults = { repo: 'verifier', worktree: 'forge' };
  writeFileSync(file, JSON.stringify({ ...routing, defaults, rules: [rule] }));
  const { exit, documents } = await lint(file);
  expect(exit).toBe(3);
  expect(documents[0]).toMatchObject({ kind: 'routing', digest: null });
  expect(documents[0]?.problems.map(({ path }) => path)).toEqual(['rules.verifier', 'defaults.worktree']);
});

test('a document with a key twice is named as that', async () => {
  const file = edited('twice', (text) => text.replace('"revision": 1,', '"revision": 1, "revision": 2,'));
  const { exit, documents } = await lint(file);
  expect(exit).toBe(3);
  expect(documents[0]?.problems[0]?.code).toBe('json_repeated_key');
});

test('[inv-19] a file that is not there is not found', async () => {
  await expect(lint(join(directory, 'none.json'))).rejects.toMatchObject({ code: 'not_found' });
});
