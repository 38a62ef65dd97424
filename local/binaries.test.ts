import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { onPath, storeServer, temporalCli, timeSkippingServer, versionOf } from './binaries.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binaries-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function program(name: string, says: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a store server on PATH is used when its version serves', () => {
  const path = program('redis-server', 'Redis server v=7.2.4 sha=00000000:0');
  expect(storeServer({ PATH: directory })).toBe(path);
});

test('a Redis on PATH that is too old is passed over', () => {
  const path = program('redis-server', 'Redis server v=6.2.9 sha=00000000:0');
  expect(storeServer({ PATH: directory })).not.toBe(path);
});

test('any Valkey on PATH serves, before a Redis', () => {
  program('redis-server', 'Redis server v=7.2.4');
  const path = program('valkey-server', 'Valkey server v=8.0.1 sha=0');
  expect(storeServer({ PATH: directory })).toBe(path);
});

test('a Temporal CLI on PATH is judged by the server it holds', () => {
  const path = program('temporal', 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)');
  expect(temporalCli({ PATH: directory })).toBe(path);
  program('temporal', 'temporal version 0.10.0 (Server 1.20.0)');
  expect(temporalCli({ PATH: directory })).not.toBe(path);
});

test('after the set-up every program is there, from PATH or fetched', () => {
  expect(versionOf(temporalCli())).toContain('temporal version');
  expect(versionOf(storeServer())).toContain('server v=');
  expect(timeSkippingServer()).toContain('temporal-test-server');
});

test('a relative PATH entry is never searched', () => {
  program('temporal', 'anything');
  expect(onPath('temporal', { PATH: '.:./bin' })).toBeNull();
});

test('a program that cannot be run has no version', () => {
  expect(versionOf(join(directory, 'absent'))).toBeNull();
});
