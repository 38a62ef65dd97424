import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockHolder, releaseLock, takeLock } from './lock.ts';
import { identify, lives, stop } from './processes.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function start(program: string): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', `${program}; console.log('up'); setInterval(() => {}, 1000)`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return { child, pid: child.pid ?? 0 };
}

test('a process is itself, and no longer once it ended', async () => {
  const { child, pid } = await start('');
  const identity = identify(pid);
  if (identity === null) throw new Error('the child has no identity');
  expect(lives(identity)).toBe(true);
  const ended = once(child, 'exit');
  expect(await stop(identity, 5_000)).toBe('ended');
  await ended;
  expect(lives(identity)).toBe(false);
  expect(identify(pid)).toBeNull();
});

test('one that ignores TERM is killed after its grace', async () => {
  const { pid } = await start("process.on('SIGTERM', () => {})");
  const identity = identify(pid);
  if (identity === null) throw new Error('the child has no identity');
  expect(await stop(identity, 100)).toBe('killed');
  expect(lives(identity)).toBe(false);
});

test('another process with the pid is not touched', async () => {
  const { pid, child } = await start('');
  expect(await stop({ pid, started: 'before-the-boot:1' }, 100)).toBe('absent');
  expect(child.exitCode).toBeNull();
  expect(identify(pid)).not.toBeNull();
});

test('the lock has one holder, and a dead holder is none', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lock-'));
  const file = join(directory, 'lock');
  try {
    expect(takeLock(file)).toBeNull();
    expect(takeLock(file)?.pid).toBe(process.pid);
    releaseLock(file);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'another:1' }));
    expect(lockHolder(file)).toBeNull();
    expect(takeLock(file)).toBeNull();
    writeFileSync(file, 'half a rec');
    expect(takeLock(file)).toBeNull();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
