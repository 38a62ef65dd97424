/** Looks for processes from outside every namespace, by a marker on their command line. */
import { readdir, readFile } from 'node:fs/promises';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A number of seconds that `sleep` takes and nobody else uses. */
export function sleepMarker(): string {
  return `${randomInt(30_000, 90_000)}.${randomInt(100_000_000, 999_999_999)}`;
}

export async function processesWith(marker: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(marker) ? [pid] : [],
    ),
  );
  return found.flat().filter((pid) => pid !== process.pid);
}

/** Polls until the answer is wanted. @throws what it last was, when it is not in time */
export async function eventually<T>(
  look: () => Promise<T> | T,
  wanted: (value: T) => boolean,
  seconds = 15,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await look();
    if (wanted(value)) return value;
    if (performance.now() > deadline) throw new Error(`not in ${seconds} s; last seen: ${JSON.stringify(value)}`);
    await delay(20);
  }
}
