import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSession } from '../../local/sessions.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { cleanUp } from './clean-up.ts';
import { leavingSteps } from './session.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'portcullis-leave-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

interface Failing {
  readonly close?: boolean;
  readonly stop?: boolean;
}

async function leave(failing: Failing) {
  const directory = openSession(parent, 'local-1');
  writeFileSync(join(directory, 'claim-code'), 'secret');
  const order: string[] = [];
  const said: string[] = [];
  const step = (name: string, fails: boolean | undefined) => () => {
    order.push(name);
    return fails === true ? Promise.reject(portcullisError('gateway_unavailable', { url: 'x' })) : Promise.resolve();
  };
  const workspace = { stop: step('stop', failing.stop) };
  const steps = leavingSteps({ close: step('close', failing.close), workspace, directory });
  const work = async () => {
    try {
      return await Promise.resolve('the result');
    } finally {
      await cleanUp({ progress: (text) => said.push(text) }, steps);
    }
  };
  return { result: await work(), order, said, directory };
}

test('credentials first, then the workspace, then the directory', async () => {
  const { result, order, said, directory } = await leave({});
  expect({ result, order, said }).toEqual({ result: 'the result', order: ['close', 'stop'], said: [] });
  expect(existsSync(directory)).toBe(false);
});

test('a step that fails skips no other, is said, and does not replace the result', async () => {
  const { result, order, said, directory } = await leave({ close: true, stop: true });
  expect({ result, order }).toEqual({ result: 'the result', order: ['close', 'stop'] });
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/credentials are not revoked.*gateway_unavailable/);
  expect(existsSync(join(directory, 'claim-code'))).toBe(false);
});

test('the pair that could not be closed stays on record for the next sweep', async () => {
  const { directory } = await leave({ close: true });
  expect(existsSync(join(directory, 'owner.json'))).toBe(true);
  const stopped = await leave({ stop: true });
  expect(existsSync(stopped.directory)).toBe(false);
});
