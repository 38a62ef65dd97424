/** Running one server part in this process: until it is asked to end, or ends by itself. */
import type { Logger } from 'pino';

export interface RunningPart {
  /** Settles when the part ends by itself; rejects with why. Left out when it does not. */
  readonly ended?: Promise<void>;
  close(): Promise<void>;
}

/** Waits for the signal or for the part's own end, then closes it. @returns the exit code */
export async function runPart(part: RunningPart, logger: Logger, signal: AbortSignal): Promise<number> {
  const asked = new Promise<'asked'>((resolve) => {
    if (signal.aborted) resolve('asked');
    signal.addEventListener('abort', () => resolve('asked'), { once: true });
  });
  try {
    const how = await Promise.race([
      asked,
      ...(part.ended === undefined ? [] : [part.ended.then(() => 'ended' as const)]),
    ]);
    logger.info({ reason: how === 'asked' ? String(signal.reason) : 'ended by itself' }, 'stopping');
    return how === 'asked' ? 0 : 1;
  } finally {
    await part.close();
  }
}
