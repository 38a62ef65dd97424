/**
 * One local verification of a pair at a time: the next one's workspace would take over the seat of the one that still runs,
 * and closing the pair would revoke both.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { releaseLock, takeLock } from '../../local/lock.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName } from '../../schemas/names.ts';
import type { CliContext } from '../context.ts';

/** Longer than the longest command may take. */
const PATIENCE_MS = 3_900_000;

/** @throws `waited_too_long`, `interrupted` */
export async function withPairLock<T>(
  { paths, output, signal }: CliContext,
  pair: string,
  work: () => Promise<T>,
): Promise<T> {
  const file = lockFile(paths.root, pair);
  const began = performance.now();
  for (let holder = takeLock(file), told = false; holder !== null; holder = takeLock(file)) {
    if (!told) output.progress(`waiting     another verification of ${pair} is running (pid ${holder.pid})`);
    told = true;
    if (signal.aborted) throw portcullisError('interrupted');
    if (performance.now() - began > PATIENCE_MS) {
      throw portcullisError('waited_too_long', { seconds: PATIENCE_MS / 1000, what: `pair ${pair}` });
    }
    await delay(200);
  }
  try {
    return await work();
  } finally {
    releaseLock(file);
  }
}

/** Does the work under the pair's lock; nothing when somebody else holds it. */
export async function whilePairIsFree(root: string, pair: string, work: () => Promise<void>): Promise<void> {
  const file = lockFile(root, pair);
  if (takeLock(file) !== null) return;
  try {
    await work();
  } finally {
    releaseLock(file);
  }
}

function lockFile(root: string, pair: string): string {
  const directory = join(root, 'locks');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, checkedName('pair', pair));
}
