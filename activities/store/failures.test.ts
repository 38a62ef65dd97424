import { expect, test } from 'vitest';
import { portcullisError } from '../../schemas/errors.ts';
import { storeFailure } from './failures.ts';

test.each([
  ['Command timed out', 'store_unavailable', 'no answer in time'],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'store_unavailable', 'no connection'],
  ['Connection is closed.', 'store_unavailable', 'no connection'],
  ['connect ECONNREFUSED 127.0.0.1:1', 'store_unavailable', 'no connection'],
  ['LOADING Redis is loading the dataset in memory', 'store_unavailable', 'LOADING'],
  ['MISCONF Errors writing to the AOF file: No space left', 'store_unavailable', 'MISCONF'],
  ["READONLY You can't write against a read only replica.", 'store_unavailable', 'READONLY'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'store_full', ''],
  ['-OOM allow-oom flag is not set on the script', 'store_full', ''],
  ['NOPERM No permissions to access a key', 'internal', ''],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'internal', ''],
  ['ERR ACL failure in script: No permissions to access a key', 'internal', ''],
])('%s → %s', (message, code, reason) => {
  expect(storeFailure(new Error(message))).toMatchObject({ code, message: expect.stringContaining(reason) as string });
});

test('an error of the catalogue stays what it is', () => {
  const error = portcullisError('state_conflict', { what: 'x' });
  expect(storeFailure(error)).toBe(error);
});

test('the cause is kept', () => {
  const cause = new Error('Command timed out');
  expect(storeFailure(cause).cause).toBe(cause);
});
