/**
 * An executor as a process of its own, so that it can be killed. Its activity starts a real child and holds it until it is
 * told to stop, or until a file is there. It says what it does as lines of JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { executorReport } from '../support/verify-fixture.ts';
import { startExecutor } from './executor.ts';
import { executorSettings } from './processes.ts';

const { address, bearer, seat } = executorSettings(process.env);

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

/** `play`: the file that ends the run well. */
async function runCommand(play: string): Promise<unknown> {
  const context = Context.current();
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  say({ child: child.pid, at: Date.now() });
  context.cancellationSignal.addEventListener('abort', () => child.kill('SIGKILL'));
  while (child.exitCode === null && child.signalCode === null && !existsSync(play)) {
    context.heartbeat({ phase: 'running' });
    await Promise.race([gone, delay(100)]);
  }
  const stopped = child.signalCode !== null;
  child.kill('SIGKILL');
  await gone;
  say({ ended: stopped ? 'stopped' : 'finished', why: context.cancellationDetails ?? null });
  if (stopped && play === 'throws when cancelled') await context.cancelled;
  return executorReport(stopped ? { outcome: 'cancelled', exit_code: null, reason: 'cancelled' } : {});
}

Runtime.install({
  workerHeartbeatInterval: '1s',
  logger: new DefaultLogger('WARN', ({ message }) => say({ log: message })),
  telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
});
await startExecutor(address, bearer, seat, runCommand);
say({ ready: true });
