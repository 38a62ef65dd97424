/** `up --detach`: the same command again without a terminal, its progress in `logs/supervisor.log`. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { lockHolder } from '../../local/lock.ts';
import { modulePath } from '../../local/package-root.ts';
import { makeStateDirectories } from '../../local/state.ts';
import { lastLines } from '../../local/supervisor/launch.ts';
import type { StackStep } from '../../local/supervisor/stack.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { CliContext } from '../context.ts';
import { awaitReadyStack } from './attach.ts';

/** Resolves when the stack is ready. @throws `stack_start_failed` */
export async function detachedStack(context: CliContext, say: (step: StackStep) => void): Promise<void> {
  const { paths, signal } = context;
  makeStateDirectories(paths);
  const running = lockHolder(paths.lock);
  if (running === null) await spawnSupervisor(context);
  await awaitReadyStack(paths, signal);
  const pid = lockHolder(paths.lock)?.pid ?? 'unknown';
  say({
    part: 'supervisor',
    text: `runs as process ${pid}; log ${paths.log('supervisor')}; stop it with: portcullis down`,
  });
}

async function spawnSupervisor({ paths, signal }: CliContext): Promise<void> {
  const logFile = paths.log('supervisor');
  const log = openSync(logFile, 'a', 0o600);
  const args = [...process.argv.slice(2).filter((word) => word !== '--detach' && word !== '--once'), '--no-example'];
  const child = spawn(process.execPath, [modulePath('cli/main'), ...args], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  // From here on the lock says that it lives.
  while (lockHolder(paths.lock) === null) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      const reason = `the supervisor ended at once: ${lastLines(logFile, 3)}`;
      throw portcullisError('stack_start_failed', { part: 'The stack', reason, log: logFile });
    }
    await delay(50, undefined, { signal });
  }
}
