import { expect, test } from 'vitest';
import { verifyOptions } from './options.ts';

const FLAGS = { repo: '.', cwd: 'repo', timeout: '60', expectExit: '0' };
const ARGV = ['node', '--test'];

test('a command on the commit, in a verifier workspace', () => {
  expect(verifyOptions(FLAGS, ARGV)).toMatchObject({ cwd: 'repo', executor: null, timeoutSecs: 60, argv: ARGV });
  expect(verifyOptions({ ...FLAGS, executor: 'verifier' }, ARGV).executor).toBe('verifier');
});

test('a live tree, and a producer that is asked for', () => {
  expect(verifyOptions({ ...FLAGS, cwd: 'worktree' }, ARGV)).toMatchObject({ cwd: 'worktree', executor: null });
  expect(verifyOptions({ ...FLAGS, executor: 'forge' }, ARGV)).toMatchObject({ cwd: 'repo', executor: 'forge' });
});

test.each([
  ['--executor verifier', { cwd: 'worktree', executor: 'verifier' }, /^--executor verifier has no live tree/],
  ['another executor', { executor: 'sentinel' }, /^--executor must be/],
  ['another directory', { cwd: '.' }, /^--cwd must be/],
])('%s is a wrong call that says why', (_, change, why) => {
  const asked = () => verifyOptions({ ...FLAGS, ...change }, ARGV);
  expect(asked).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(asked).toThrow(why);
});
