/** The merge candidate, reviews and changes, on real repositories. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentDigest } from '../../schemas/digest.ts';
import { branchRef, candidateRef, formerRef, reviewsRef } from '../../schemas/git/refs.ts';
import { openGitStage, type GitStage } from '../../test/support/git-stage.ts';
import { makeCandidate } from './candidate.ts';
import { checkPushed, placeBranch } from './commits.ts';
import { describeChange, describeFile, readFileAt } from './files.ts';
import { appendReview } from './reviews.ts';

let stage: GitStage;
let source: string;
let base: string;
beforeEach(() => {
  stage = openGitStage();
  source = stage.checkout('source');
  base = stage.run(source, 'rev-parse', 'HEAD');
});
afterEach(() => stage.close());

/** A branch with these files on top of `main`; its head. */
function branch(name: string, files: Readonly<Record<string, string | null>>, from = 'main'): string {
  stage.run(source, 'checkout', '--quiet', '-B', name, from);
  return stage.commit(source, files, name);
}

const parts = (head: string, over = {}) => ({
  base,
  head,
  message: 'T-1: change',
  squash: true,
  at: 1_700_000_000_000,
  ...over,
});

describe('a merge candidate', () => {
  test('is one commit on the judged base with what both changed, and the same one when asked for again', async () => {
    const head = branch('portcullis/T-1', { 'b.txt': 'mine\n' });
    base = branch('main', { 'c.txt': 'theirs\n' });
    const own = stage.own('T-1', source);
    const made = await makeCandidate(own, parts(head));
    expect(made).toMatchObject({ kind: 'candidate', base, head });
    const commit = made.kind === 'candidate' ? made.commit : '';
    expect(stage.run(own, 'rev-parse', `${commit}^@`)).toBe(base);
    expect(stage.run(own, 'ls-tree', '-r', '--name-only', commit)).toBe('a.txt\nb.txt\nc.txt');
    expect(stage.run(own, 'log', '-1', '--format=%an %ct %B', commit)).toContain(`Portcullis-Head: ${head}`);
    expect(stage.run(own, 'rev-parse', candidateRef(commit))).toBe(commit);
    expect(await makeCandidate(own, parts(head))).toEqual(made);
    expect(await makeCandidate(own, parts(head, { at: 1_700_000_001_000 }))).not.toEqual(made);
  });

  test('that is not squashed has base and head as its parents, and the same tree', async () => {
    const head = branch('portcullis/T-1', { 'b.txt': 'mine\n' });
    base = branch('main', { 'c.txt': 'theirs\n' });
    const own = stage.own('T-1', source);
    const [squashed, merged] = [
      await makeCandidate(own, parts(head)),
      await makeCandidate(own, parts(head, { squash: false })),
    ];
    if (squashed.kind !== 'candidate' || merged.kind !== 'candidate') throw new Error('no candidate was made');
    expect(stage.run(own, 'rev-parse', `${merged.commit}^1`, `${merged.commit}^2`)).toBe(`${base}\n${head}`);
    expect(merged.tree).toBe(squashed.tree);
  });

  test('is not made of a conflict, which names its files', async () => {
    const head = branch('portcullis/T-1', { 'a.txt': 'one\nmine\nthree\n' });
    base = branch('main', { 'a.txt': 'one\ntheirs\nthree\n' });
    const own = stage.own('T-1', source);
    expect(await makeCandidate(own, parts(head))).toMatchObject({ kind: 'conflict', paths: ['a.txt'] });
  });

  test('is not made of nothing, nor of histories without a common commit', async () => {
    stage.run(source, 'checkout', '--quiet', '--orphan', 'other');
    const foreign = stage.commit(source, { 'a.txt': 'foreign\n' });
    stage.run(source, 'checkout', '--quiet', 'main');
    const own = stage.own('T-1', source);
    expect(await makeCandidate(own, parts(base))).toEqual({ kind: 'nothing' });
    expect(await makeCandidate(own, parts(foreign))).toMatchObject({ kind: 'conflict', paths: [] });
    await expect(makeCandidate(own, parts('f'.repeat(40)))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[inv-05] carries no trailer of ours that the producer wrote', async () => {
    const head = branch('portcullis/T-1', { 'b.txt': 'mine\n' });
    const own = stage.own('T-1', source);
    const message = `fine\n\nPortcullis-Head: ${'e'.repeat(40)}`;
    const made = await makeCandidate(own, parts(head, { message }));
    const commit = made.kind === 'candidate' ? made.commit : '';
    const trailers = stage.run(own, 'log', '-1', '--format=%(trailers:key=Portcullis-Head,valueonly)', commit);
    expect(trailers.trim()).toBe(head);
  });

  test('[inv-17] is combined without any program that the change names', async () => {
    const marker = join(stage.root, 'ran');
    const head = branch('portcullis/T-1', {
      'a.txt': 'one\nmine\nthree\n',
      '.gitattributes': '* merge=evil filter=evil\n',
    });
    base = branch('main', { 'a.txt': 'one\ntheirs\nthree\n' });
    const own = stage.own('T-1', source);
    stage.run(own, 'config', 'merge.evil.driver', `touch ${marker}`);
    expect(await makeCandidate(own, parts(head))).toMatchObject({ kind: 'conflict' });
    expect(existsSync(marker)).toBe(false);
  });
});

describe('reviews', () => {
  const review = (name: string, said: string | Uint8Array) => ({
    pair: 'T-1',
    name,
    bytes: Buffer.from(said),
    at: 1_700_000_000_000,
    by: 'c-1',
  });

  test('are one line of commits beside the branch, and one that is there is never replaced', async () => {
    const own = stage.own('T-1', source);
    const first = await appendReview(own, review('round-1/segment-1-eval.md', 'VERDICT: PASS'));
    const second = await appendReview(own, review('final-review.md', 'fine'));
    expect(stage.run(own, 'rev-parse', `${second.commit}^`)).toBe(first.commit);
    expect(stage.run(own, 'rev-parse', reviewsRef('T-1'))).toBe(second.commit);
    expect(await appendReview(own, review('round-1/segment-1-eval.md', 'VERDICT: PASS'))).toEqual(first);
    expect(first.digest).toBe(contentDigest(Buffer.from('VERDICT: PASS')));
    for (const [name, text] of [
      ['final-review.md', 'other'],
      ['round-1', 'a file where there is a directory'],
      ['final-review.md/x', 'a directory where there is a file'],
    ] as const) {
      await expect(appendReview(own, review(name, text)), name).rejects.toMatchObject({ code: 'state_conflict' });
    }
    expect(stage.run(own, 'rev-parse', reviewsRef('T-1'))).toBe(second.commit);
    expect(stage.run(own, 'rev-parse', branchRef('main'))).toBe(base);
  });

  test.each([
    ['bytes that are no text', Buffer.alloc(256 * 1024, 0xff)],
    ['a byte order mark', Buffer.from('\uFEFFfine')],
    ['a lone surrogate and a NUL', Buffer.from([0x66, 0xed, 0xa0, 0x80, 0x00])],
  ])('[inv-03] what is committed is byte for byte what was appended: %s', async (_, bytes) => {
    const own = stage.own('T-1', source);
    const { commit, digest } = await appendReview(own, review('final-review.md', bytes));
    expect(digest).toBe(contentDigest(bytes));
    expect(await readFileAt(own, { commit, path: 'final-review.md', maxBytes: bytes.length })).toMatchObject({ bytes });
  });

  test('that come at once all stay', async () => {
    const own = stage.own('T-1', source);
    await Promise.all([1, 2, 3, 4].map((n) => appendReview(own, review(`segment-${n}-eval.md`, `review ${n}`))));
    expect(stage.run(own, 'ls-tree', '--name-only', reviewsRef('T-1')).split('\n')).toHaveLength(4);
  });

  test.each(['../x', 'a//b', '.git/x', '-x', 'a/.b', 'a\nb', '', 'a/b/c/d/e', 'x'.repeat(201)])(
    '[inv-19] the name %j is refused',
    async (name) => {
      await expect(appendReview(stage.root, review(name, 'x'))).rejects.toMatchObject({ code: 'schema_invalid' });
    },
  );
});

describe('what commits hold', () => {
  test('a file is read at its commit, and what is no file says so', async () => {
    symlinkSync('/etc/passwd', join(source, 'link.md'));
    const commit = stage.commit(source, { 'PLAN.md': '# plan\n', 'dir/EMPTY.md': '' });
    const own = stage.own('T-1', source);
    const at = (path: string, maxBytes = 100) => describeFile(own, { commit, path, maxBytes });
    expect(await at('PLAN.md')).toEqual({ state: 'present', digest: contentDigest(Buffer.from('# plan\n')), size: 7 });
    expect(await readFileAt(own, { commit, path: 'PLAN.md', maxBytes: 7 })).toMatchObject({ state: 'present' });
    expect(await at('PLAN.md', 6)).toEqual({ state: 'too_large' });
    expect(await at('dir/EMPTY.md')).toEqual({ state: 'empty' });
    expect(await at('dir')).toEqual({ state: 'no_file' });
    expect(await at('link.md')).toEqual({ state: 'no_file' });
    expect(await at('*.md')).toEqual({ state: 'missing' });
    expect(await describeFile(own, { commit: base, path: 'PLAN.md', maxBytes: 9 })).toEqual({ state: 'missing' });
    await expect(describeFile(own, { commit: 'f'.repeat(40), path: 'PLAN.md', maxBytes: 9 })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('a change is its paths, modes and contents, and whether it stays within', async () => {
    const head = branch('portcullis-docs/T-1', { 'docs/x y.md': 'x', 'CHANGELOG.md': 'c' });
    const beyond = branch('portcullis/T-1', { 'src.txt': 's' }, head);
    const own = stage.own('T-1', source);
    const change = await describeChange(own, base, head, ['docs/', 'CHANGELOG.md']);
    expect(change).toMatchObject({ paths: ['CHANGELOG.md', 'docs/x y.md'], pathCount: 2, within: true });
    expect(await describeChange(own, base, head, ['docs/', 'CHANGELOG.md'])).toEqual(change);
    const more = await describeChange(own, base, beyond, ['docs/', 'CHANGELOG.md']);
    expect(more.within).toBe(false);
    expect(more.diffDigest).not.toBe(change.diffDigest);
    expect((await describeChange(own, base, base, ['docs/'])).within).toBe(false);
  });

  test('a submit counts when its commit was pushed to the branch, on top of what was accepted', async () => {
    const head = branch('portcullis/T-1', { 'b.txt': 'b' });
    const elsewhere = branch('other', { 'c.txt': 'c' });
    const own = stage.own('T-1', source);
    const check = (commit: string, after = base) => checkPushed(own, { commit, branch: 'portcullis/T-1', after });
    expect(await check(head)).toMatchObject({ pushed: true });
    expect(await check(elsewhere)).toEqual({ pushed: false, reason: 'not_on_branch' });
    expect(await check('f'.repeat(40))).toEqual({ pushed: false, reason: 'unknown_commit' });
    expect(await check(base, head)).toEqual({ pushed: false, reason: 'not_after' });
  });

  test('an execution begins on its checkpoint, and what the branch had beyond it is kept', async () => {
    const checkpoint = branch('portcullis/T-1', { 'b.txt': 'b' });
    const beyond = branch('portcullis/T-1', { 'b.txt': 'unfinished' }, checkpoint);
    const own = stage.own('T-1', source);
    expect(await placeBranch(own, 'portcullis/T-1', checkpoint)).toEqual({ former: beyond });
    expect(await placeBranch(own, 'portcullis/T-1', checkpoint)).toEqual({ former: null });
    expect(stage.run(own, 'rev-parse', branchRef('portcullis/T-1'), formerRef(beyond))).toBe(
      `${checkpoint}\n${beyond}`,
    );
    await placeBranch(own, 'portcullis-docs/T-1', base);
    expect(stage.run(own, 'rev-parse', branchRef('portcullis-docs/T-1'))).toBe(base);
  });
});
