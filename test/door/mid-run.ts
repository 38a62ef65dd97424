/** An executor in the middle of a run whose child is up, in a process that can be killed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { spawnExecutor, type TestProcess } from './processes.ts';
import { seatOfPair, type DoorStage } from './stage.ts';

/** The process is ended with the test. */
export function ended<T extends TestProcess>(process: T): T {
  onTestFinished(() => process.kill9());
  return process;
}

/** A pair of its own, in the middle of a run whose child is up. */
export async function midRun(stage: DoorStage, pair: string, address: string, heartbeatSecs = 120) {
  const seat = seatOfPair(pair);
  const credential = await stage.credential({ pair });
  const executor = ended(spawnExecutor({ address, bearer: credential.bearer, seat }));
  await executor.said('ready');
  const file = join(stage.directory, `${pair}.done`);
  const handle = await stage.dispatch(seat, file, heartbeatSecs);
  const { child } = await executor.said('child');
  return { seat, credential, executor, handle, child, finish: () => writeFileSync(file, '') };
}

export async function metricsOf(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}
