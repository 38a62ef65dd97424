import { expect, test } from 'vitest';
import { addedLines, holesIn } from './security.ts';

const kinds = (text: string) => holesIn(text).map(({ kind }) => kind);

test.each([
  ["const password = 'correct horse battery';", 'hard-coded-secret'],
  ['  "api_key": "0123456789abcdef",', 'hard-coded-secret'],
  ["const DB_PASSWORD = 'correct-horse';", 'hard-coded-secret'],
  ['-----BEGIN RSA PRIVATE KEY-----', 'hard-coded-secret'],
  ['return eval(text);', 'evaluated-input'],
  ['const run = new Function(body);', 'evaluated-input'],
  ['exec(`ls ${directory}`);', 'shell-injection'],
  ["child_process.execSync('rm ' + name);", 'shell-injection'],
  ['spawn(name, args, { shell: true });', 'shell-injection'],
])('sees the hole in %s', (text, kind) => {
  expect(kinds(text)).toEqual([kind]);
});

test.each([
  'tokens = Math.min(capacity, tokens + count);',
  "const token = process.env['TOKEN'] ?? '';",
  'const match = pattern.exec(text + tail);',
  "// eval('this is a comment')",
  "execFile('ls', [directory]);",
  'await retrieval(text);',
])('sees none in %s', (text) => {
  expect(kinds(text)).toEqual([]);
});

test('added lines are told with the place where they stand at the head', () => {
  const diff = [
    'diff --git a/src/a.js b/src/a.js',
    '--- a/src/a.js',
    '+++ b/src/a.js',
    '@@ -3,0 +4,2 @@ function a() {',
    '+one',
    '+two',
    '@@ -9 +11 @@',
    '-old',
    '+new',
    'diff --git a/gone.js b/gone.js',
    '--- a/gone.js',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-was',
  ].join('\n');
  expect(addedLines(diff)).toEqual([
    { path: 'src/a.js', line: 4, text: 'one' },
    { path: 'src/a.js', line: 5, text: 'two' },
    { path: 'src/a.js', line: 11, text: 'new' },
  ]);
});
