import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyResult } from '../../policies/verify/result.ts';
import { contentDigest } from '../../schemas/digest.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import { acceptedRequest, executorReport } from '../../test/support/verify-fixture.ts';
import { repositoryPath } from '../git/repository.ts';
import { loadCommandPolicy } from '../policy/load.ts';
import { verifyAction } from '../signing/action.ts';
import { generateSigningKey, parseVerifyingKey } from '../signing/keys.ts';
import { prepareRun, type PrepareDependencies } from './prepare.ts';

const root = mkdtempSync(join(tmpdir(), 'portcullis-prepare-'));
const key = generateSigningKey();
let needs: PrepareDependencies;
let accepted: AcceptedRequest;
let base: string;
let head: string;

function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return execFileSync('git', [...who, ...args], { cwd, env, encoding: 'utf8' }).trim();
}

beforeAll(async () => {
  // What the control plane holds, and nothing else: the checkout that it came from is gone afterwards.
  const source = join(root, 'source');
  mkdirSync(source);
  git(source, 'init', '-q', '-b', 'main');
  writeFileSync(join(source, 'package.json'), '{"name":"before"}');
  git(source, 'add', '.');
  git(source, 'commit', '-qm', 'base');
  writeFileSync(join(source, 'package.json'), '{"name":"after"}');
  git(source, 'commit', '-qam', 'head');
  [base, head] = [git(source, 'rev-parse', 'HEAD^'), git(source, 'rev-parse', 'HEAD')];
  const own = repositoryPath(root, 'test', 'T-1');
  mkdirSync(dirname(own));
  git(root, 'clone', '-q', '--bare', '--no-hardlinks', source, own);
  rmSync(source, { recursive: true });
  const commandPolicy = await loadCommandPolicy();
  const { policy, digest } = commandPolicy;
  const request = acceptedRequest('T-1', { subject: { headSha: head, execution: 'e1', generation: 1 } });
  accepted = { ...request, policy: { id: policy.id, revision: policy.revision, digest, template: 'node-test' } };
  needs = {
    repositoriesDir: root,
    commandPolicy,
    actionKey: key,
    store: {
      confirmStarted: () => Promise.resolve(),
      readHead: (_, pair) =>
        Promise.resolve({
          schema: 'portcullis/pair-head/v1',
          pair,
          headSha: head,
          baseSha: base,
          execution: 'e1',
          generation: 1,
        }),
    },
  };
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const digestOfText = (text: string) => contentDigest(new TextEncoder().encode(text));

test('[inv-05] commit, tree and definitions at base and head are of the control plane’s own repository', async () => {
  const prepared = await prepareRun(needs, accepted);
  const own = repositoryPath(root, 'test', 'T-1');
  expect(prepared.treeBefore).toBe(git(own, 'rev-parse', `${head}^{tree}`));
  expect(prepared.definitions).toContainEqual({
    path: 'package.json',
    base_digest: digestOfText('{"name":"before"}'),
    head_digest: digestOfText('{"name":"after"}'),
  });
  expect(verifyAction(prepared.signed, parseVerifyingKey(key.publicPem)).subject.headSha).toBe(head);
});

test('[inv-17] a commit that the control plane does not hold is not prepared', async () => {
  const subject = { headSha: '0'.repeat(40), execution: 'e1', generation: 1 };
  const foreign = { ...accepted, request: { ...accepted.request, subject } };
  await expect(prepareRun(needs, foreign)).rejects.toMatchObject({ code: 'not_found' });
});

test('[inv-05] what an executor says of tree, toolchain and artifacts stands as its statement, and a difference lowers the result', async () => {
  const prepared = await prepareRun(needs, accepted);
  const resultOf = (tree_after: string) => {
    const report = executorReport({
      tree_after,
      toolchain: { digest: digestOfText('node') },
      artifacts: [{ path: 'extra', sha256: digestOfText('x'), bytes: 1 }],
      argv_executed: prepared.signed.action.argvExecuted,
    });
    const end = { status: 'completed', report, reason: '' } as const;
    return verifyResult({ accepted, prepared, end, current: accepted.request.subject, observedAt: 1 });
  };
  const same = resultOf(prepared.treeBefore);
  expect(same).toMatchObject({ satisfied: true, definitions: prepared.definitions });
  expect(same.subject).toMatchObject({ head_sha: head, tree_before: prepared.treeBefore });
  expect(same.toolchain).toEqual({ digest: digestOfText('node') });
  const other = resultOf('c'.repeat(40));
  expect(other).toMatchObject({ satisfied: false, reasons: ['tree_changed'] });
  expect(other.subject.tree_before).toBe(prepared.treeBefore);
});
