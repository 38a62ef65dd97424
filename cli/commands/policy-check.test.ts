import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommandPolicy, shippedCommandPolicies } from '../../activities/policy/load.ts';
import { createOutput } from '../output.ts';
import { policyCheck, type PolicyCheckOptions } from './policy-check.ts';
import { policyDiff } from './policy-diff.ts';
import { policyList, policyShow } from './policy-list.ts';

const directory = shippedCommandPolicies();

function captured(json = true) {
  let text = '';
  const stdout = { write: (chunk: string | Uint8Array) => (text += String(chunk)) };
  const output = createOutput({ json, debug: false, color: false }, { stdout, stderr: stdout });
  return { output, object: (): unknown => JSON.parse(text), text: () => text };
}

function ask(argv: readonly string[]): PolicyCheckOptions {
  return { directory, argv, cwd: 'repo', timeoutSecs: 600, expectExitCode: 0, artifacts: [] };
}

describe('policy check', () => {
  it('says what an allowed command would run, and ends with 0', async () => {
    const { output, object } = captured();
    expect(await policyCheck(ask(['cargo', 'test', '--package', 'foo']), output)).toBe(0);
    expect(object()).toMatchObject({
      schema: 'portcullis/v1',
      kind: 'PolicyCheck',
      allowed: true,
      template: 'cargo-test-package',
      reason: null,
      argv_executed: ['cargo', 'test', '--locked', '--offline', '--package', 'foo'],
      policy: { id: 'default', revision: 1, digest: (await loadCommandPolicy()).digest },
    });
  });

  it('says why a command is refused, and ends with 3', async () => {
    const { output, object } = captured();
    expect(await policyCheck(ask(['npm', 'test', '--prefix', '/evil']), output)).toBe(3);
    expect(object()).toMatchObject({
      allowed: false,
      template: null,
      reason: 'template_mismatch',
      argv_executed: null,
    });
  });

  it('says it to people too', async () => {
    const { output, text } = captured(false);
    await policyCheck(ask(['go', 'vet', './...']), output);
    expect(text()).toContain('allowed  go-vet');
  });
});

describe('the other verbs of policy', () => {
  it('list names every template, show one of them', async () => {
    const list = captured(false);
    expect(await policyList({ directory }, list.output)).toBe(0);
    expect(list.text()).toContain('cargo test --package <crate>');
    const show = captured();
    expect(await policyShow({ directory, template: 'pytest' }, show.output)).toBe(0);
    expect(show.object()).toMatchObject({ template: { id: 'pytest', argv: ['pytest'] } });
    await expect(policyShow({ directory, template: 'none' }, show.output)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('diff ends with 3 when something changed', async () => {
    const { policy } = await loadCommandPolicy();
    const scratch = await mkdtemp(join(tmpdir(), 'portcullis-diff-'));
    const changed = join(scratch, 'changed.json');
    const shipped = join(directory, 'default.json');
    await writeFile(changed, JSON.stringify({ ...policy, revision: 2 }));
    const { output, object } = captured();
    expect(await policyDiff({ before: shipped, after: changed }, output)).toBe(3);
    expect(object()).toMatchObject({ same: false, changes: [{ kind: 'changed', path: 'revision' }] });
    expect(await policyDiff({ before: shipped, after: shipped }, captured().output)).toBe(0);
    await rm(scratch, { recursive: true });
  });
});
