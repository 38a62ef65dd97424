/** The local Coder's state outlives `kill -9`, and what was being built then is nobody's until it is reaped (recording 16). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectCoder } from '../../activities/coder/connect.ts';
import { newKey } from '../../local/coder/users/accounts.ts';

const token = newKey();
const HOUR_MS = 3_600_000;
const PATIENT = { timeout: 15_000 };
let directory: string;
let child: ChildProcess;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'portcullis-coder-'));
});
afterEach(async () => {
  await kill();
  rmSync(directory, { recursive: true, force: true });
});

/** `hungMs`: when a job of a killed server is given up. */
async function serve(hungMs: number) {
  const program = join(import.meta.dirname, 'contract', 'serve.ts');
  const server = spawn(process.execPath, [program, join(directory, 'coder.db'), token, String(hungMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = server;
  for await (const url of createInterface({ input: server.stdout })) return connectCoder({ url, token });
  throw new Error('the server ended before it said where it is');
}

async function kill(): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('killed in mid-build: everything told before is there, the build runs on for nobody, and only reaping frees it', async () => {
  let coder = await serve(HOUR_MS);
  const template = await coder.template('coder', 'development');
  const request = (name: string, buildSeconds: string) => ({
    owner: 'operator',
    name,
    templateId: template.id,
    templateVersionId: template.activeVersionId,
    run: `workspace/${name}`,
    parameters: [
      { name: 'portcullis_tenant', value: 'local' },
      { name: 'build_seconds', value: buildSeconds },
    ],
    ttlMs: 3_600_000,
  });
  const done = (await coder.createOrAdopt(request('done', '0'))).workspace;
  const slow = (await coder.createOrAdopt(request('slow', '600'))).workspace;
  const job = async (id: string) => {
    const reading = await coder.readById(id);
    return reading.seen === 'present' ? reading.workspace.build.job : reading.seen;
  };
  await expect.poll(() => job(done.id), PATIENT).toBe('succeeded');
  await expect.poll(() => job(slow.id), PATIENT).toBe('running');

  await kill();
  coder = await serve(HOUR_MS);
  expect(await coder.template('coder', 'development')).toEqual(template);
  expect(await job(done.id)).toBe('succeeded');
  expect(await job(slow.id)).toBe('running');
  expect((await coder.requestBuild(slow.id, { transition: 'delete' })).outcome).toBe('busy');
  await coder.cancelBuild(slow.build.id);
  expect(await job(slow.id)).toBe('canceling');

  await kill();
  coder = await serve(100);
  await expect.poll(() => job(slow.id), PATIENT).toBe('failed');
  expect((await coder.build(slow.build.id)).jobError).toContain('reaper');
  expect((await coder.requestBuild(slow.id, { transition: 'delete' })).outcome).toBe('started');
  await expect.poll(() => coder.isGone(slow.id), PATIENT).toEqual({ gone: true });
});
