import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeLock } from '../../local/lock.ts';
import { openSession } from '../../local/sessions.ts';
import { statePaths, type StatePaths } from '../../local/state.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { sweepSessions } from './sweep.ts';

let root: string;
let paths: StatePaths;
const closed: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-sweep-'));
  paths = statePaths(root);
  mkdirSync(paths.workspaces);
  closed.length = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function sweep(close = (pair: string) => Promise.resolve(closed.push(pair))): Promise<readonly string[]> {
  const said: string[] = [];
  const progress = (text: string) => void said.push(text);
  await sweepSessions({ paths, output: { progress } }, close);
  return said;
}

/** What a process that was killed leaves. */
async function killed(pair: string): Promise<string> {
  const sessions = JSON.stringify(join(import.meta.dirname, '..', '..', 'local', 'sessions.ts'));
  const program = `import(${sessions}).then(({ openSession }) => {
    console.log(openSession(${JSON.stringify(paths.workspaces)}, ${JSON.stringify(pair)}));
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let line = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (line += text));
  await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  const directory = line.trim();
  mkdirSync(join(directory, 'workspace', 'private'), { recursive: true });
  writeFileSync(join(directory, 'workspace', 'private', 'credential'), 'pc1.local.id.secret');
  return directory;
}

test('what a killed verification left is removed and its pair closed', async () => {
  const directory = await killed('local-1');
  expect(await sweep()).toEqual([]);
  expect(existsSync(directory)).toBe(false);
  expect(closed).toEqual(['local-1']);
});

test('one that runs is left alone', async () => {
  const directory = openSession(paths.workspaces, 'local-1');
  await sweep();
  expect(existsSync(directory)).toBe(true);
  expect(closed).toEqual([]);
});

test('while the gateway is away the bearer is removed and the pair stays on record', async () => {
  const directory = await killed('local-1');
  const said = await sweep(() => Promise.reject(portcullisError('gateway_unavailable', { url: 'x' })));
  expect(said).toEqual([expect.stringMatching(/not swept yet \(gateway_unavailable/)]);
  expect(readdirSync(directory)).toEqual(['owner.json']);
  await sweep();
  expect(existsSync(directory)).toBe(false);
  expect(closed).toEqual(['local-1']);
});

test('a pair in which somebody verifies now is not closed under them', async () => {
  const directory = await killed('local-1');
  mkdirSync(join(root, 'locks'));
  takeLock(join(root, 'locks', 'local-1'));
  await sweep();
  expect(closed).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});

test('a directory that names no owner goes when it is old', async () => {
  const directory = join(paths.workspaces, 'verify-unowned');
  mkdirSync(directory);
  await sweep();
  expect(existsSync(directory)).toBe(true);
  utimesSync(directory, 0, 0);
  await sweep();
  expect(existsSync(directory)).toBe(false);
});
