import { expect, test } from 'vitest';
import { verifyOptions } from './options.ts';

const FLAGS = { repo: '.', cwd: 'repo', timeout: '60', expectExit: '0' };
const ARGV = ['node', '--test'];

test('a command on the commit, in a verifier workspace', () => {
  expect(verifyOptions(FLAGS, ARGV)).toMatchObject({ cwd: 'repo', executor: null, timeoutSecs: 60, argv: ARGV });
  expect(verifyOptions({ ...FLAGS, executor: 'verifier' }, ARGV).executor).toBe('verifier');
});

test.each([
  ['--cwd worktree', { cwd: 'worktree' }],
  ['--executor forge', { executor: 'forge' }],
])('%s is a wrong call that says why: a local repository has no producer', (flag, change) => {
  const asked = () => verifyOptions({ ...FLAGS, ...change }, ARGV);
  expect(asked).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(asked).toThrow(new RegExp(`^${flag} .*producer`));
});
