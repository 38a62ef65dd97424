import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReportedFinding } from '../../schemas/verification/report.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { citedLines, type CitedChange } from './cited-lines.ts';

let git: GitStage;
let change: CitedChange;
beforeAll(() => {
  git = openGitStage();
  const checkout = git.checkout('producer', {
    'src/a.js': 'one\ntwo\nthree\nfour\nfive\n',
    'src/same.js': 'same\n',
    // What is judged would hide its own change from whoever looks for it.
    '.gitattributes': '*.js -diff binary\n',
  });
  const base = git.run(checkout, 'rev-parse', 'HEAD');
  const head = git.commit(checkout, { 'src/a.js': 'one\n2\nthree\nfive\nsix\nseven\n', 'src/new "file".js': 'new\n' });
  change = { gitDir: git.own('T-1', checkout), resourceId: 'repository:T-1', base, head };
});
afterAll(() => git.close());

const citing = (...paths: readonly string[]) => ({
  dispositions: [],
  findings: paths.map((path): ReportedFinding => ({
    ...({ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' } as const),
    ...{ location: { path, from_line: 1, to_line: 1 }, failure_scenario: 'x', required_fix: 'y' },
  })),
});

test('[inv-05] changed lines are those of our own repository, whatever the judged tree says of its files', async () => {
  const { changedLines } = await citedLines(change, citing('src/a.js', 'src/same.js', 'src/new "file".js'));
  expect(changedLines).toEqual([
    { path: 'src/a.js', fromLine: 2, toLine: 2 },
    // A line was taken away here: its neighbours are what the change touches.
    { path: 'src/a.js', fromLine: 3, toLine: 4 },
    { path: 'src/a.js', fromLine: 5, toLine: 6 },
    { path: 'src/new "file".js', fromLine: 1, toLine: 1 },
  ]);
});

test('lines are named with the digest of what stands there; those that are not there are none', async () => {
  const { linesAt } = await citedLines(change, citing('src/a.js', 'gone.js', 'src'));
  expect(linesAt({ path: 'src/a.js', from_line: 2, to_line: 3 })).toEqual({
    ...{ resourceId: 'repository:T-1', path: 'src/a.js', fromLine: 2, toLine: 3 },
    digest: contentDigest(new TextEncoder().encode('2\nthree\n')),
  });
  expect(linesAt({ path: 'src/a.js', from_line: 6, to_line: 7 })).toBeNull();
  expect(linesAt({ path: 'gone.js', from_line: 1, to_line: 1 })).toBeNull();
  expect(linesAt({ path: 'src', from_line: 1, to_line: 1 })).toBeNull();
});
