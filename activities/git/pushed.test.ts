import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkPushed } from './commits.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-pushed-'));
  execFileSync('git', ['init', '-q', '--bare', join(root, 'there.git')]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const asked = { commit: '1'.repeat(40), branch: 'portcullis/T-1', after: '2'.repeat(40) };

test('a commit that is not there is an answer', async () => {
  expect(await checkPushed(join(root, 'there.git'), asked)).toEqual({ pushed: false, reason: 'unknown_commit' });
});

test('[inv-07] that nothing is there in a repository that cannot be read is none', async () => {
  await expect(checkPushed(join(root, 'away.git'), asked)).rejects.toMatchObject({ code: 'repository_invalid' });
});
