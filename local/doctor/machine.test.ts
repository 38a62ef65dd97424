import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSettings } from '../../schemas/settings.ts';
import { statePaths } from '../state.ts';
import { examine } from './examine.ts';
import { checkOpenToLocalUsers } from './loopback.ts';
import { checkPython } from './machine.ts';

test('doctor looks for the python that every workspace needs', () => {
  expect(checkPython(process.env)).toMatchObject({ name: 'python3', status: 'ok' });
});

test('doctor warns that the local Temporal answers everybody on this machine', () => {
  expect(checkOpenToLocalUsers(null, false)).toMatchObject({ status: 'warn' });
  expect(checkOpenToLocalUsers(null, true)).toMatchObject({ status: 'skip' });
});

test('both are among what doctor says', async () => {
  const root = mkdtempSync(join(tmpdir(), 'portcullis-doctor-'));
  try {
    const settings = resolveSettings({ flags: {}, environment: {}, file: {} });
    const checks = await examine({ settings, paths: statePaths(root), environment: process.env });
    const names = checks.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['python3', 'local users']));
  } finally {
    rmSync(root, { recursive: true });
  }
});
