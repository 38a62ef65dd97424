import { mkdtemp, rm, stat, chmod, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import type { Action } from '../../schemas/verify/action.ts';
import { signAction, verifyAction } from './action.ts';
import {
  generateSigningKey,
  loadOrCreateSigningKey,
  loadSigningKey,
  parseVerifyingKey,
  signText,
  verifyText,
} from './keys.ts';

const ACTION: Action = {
  schema: 'portcullis/action/v1',
  tenant: 'local',
  pair: 'T-1',
  taskId: 'task',
  requestDigest: digestOf('request', {}),
  policy: { id: 'default', revision: 1, digest: digestOf('policy', {}), template: 'node-test' },
  cwd: 'repo',
  argvRequested: ['node', '--test'],
  argvExecuted: ['node', '--test'],
  environment: {},
  limits: {
    timeoutSecs: 1,
    processes: 1,
    dataBytes: 1,
    memoryBytes: 1,
    fileBytes: 1,
    workBytes: 1,
    files: 1,
    openFiles: 1,
    tmpBytes: 1,
    outputBytes: 1,
  },
  artifacts: [],
  counts: null,
  prepare: null,
  subject: { headSha: 'a'.repeat(40), execution: 'e', generation: 1 },
  executor: { role: 'verifier', workspace: 'ws', workspaceGeneration: 1 },
  notAfter: 1,
};

const key = generateSigningKey();
const verifier = parseVerifyingKey(key.publicPem);

describe('a signed action', () => {
  it('verifies with the key that signed it', () => {
    expect(verifyAction(signAction(ACTION, key), verifier)).toEqual(ACTION);
  });

  const signed = signAction(ACTION, key);
  const changed = { ...ACTION, argvExecuted: ['sh', '-c', 'id'] };
  it.each([
    ['its action was changed', { ...signed, action: changed }],
    ['its action and digest were changed', { ...signed, action: changed, digest: digestOf('action', changed) }],
    ['its digest was changed', { ...signed, digest: digestOf('action', changed) }],
    ['a key was added to its action', { ...signed, action: { ...ACTION, env: { A: 'b' } } }],
    ['its action has no canonical bytes', { ...signed, action: { ...ACTION, notAfter: 0.5 } }],
    ['it is signed by another key', { ...signAction(ACTION, generateSigningKey()), keyId: key.keyId }],
    ['it names another key', { ...signed, keyId: 'other' }],
    ['its signature is written in another way', { ...signed, signature: `${signed.signature}\n` }],
    ['it has no signature', { ...signed, signature: '' }],
    ['its signature is one of another record', { ...signed, signature: signText(key, digestOf('audit', ACTION)) }],
  ])('[inv-19] is refused when %s', (_, forged) => {
    expect(() => verifyAction(forged, verifier)).toThrow(expect.objectContaining({ code: 'signature_invalid' }));
  });
});

describe('a signing key in a file', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'portcullis-key-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('[inv-15] is readable by its owner only, and the same when it is loaded again', async () => {
    const file = join(directory, 'key.pem');
    const made = await loadOrCreateSigningKey(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const loaded = await loadOrCreateSigningKey(file);
    expect(loaded.keyId).toBe(made.keyId);
    expect(verifyText(parseVerifyingKey(loaded.publicPem), 'x', signText(made, 'x'))).toBe(true);
  });

  it('[inv-15] is refused when others can read it', async () => {
    const file = join(directory, 'key.pem');
    await loadOrCreateSigningKey(file);
    await chmod(file, 0o640);
    await expect(loadSigningKey(file)).rejects.toMatchObject({ code: 'setting_invalid' });
  });

  it('is refused when it is missing or no key', async () => {
    const file = join(directory, 'key.pem');
    await expect(loadSigningKey(file)).rejects.toMatchObject({ code: 'setting_invalid' });
    await writeFile(file, 'hello', { mode: 0o600 });
    await expect(loadSigningKey(file)).rejects.toMatchObject({ code: 'setting_invalid' });
    expect(() => parseVerifyingKey('hello')).toThrow(expect.objectContaining({ code: 'setting_invalid' }));
  });
});
