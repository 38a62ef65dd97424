import type { Writable } from 'node:stream';

/** Resolves when more can be written, or when nobody reads any more. @throws the signal's reason once it aborts */
export function drained(to: Writable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      to.off('drain', settle).off('close', settle);
      signal.removeEventListener('abort', settle);
      if (signal.aborted) reject(signal.reason instanceof Error ? signal.reason : new Error('it took too long'));
      else resolve();
    };
    to.once('drain', settle).once('close', settle);
    signal.addEventListener('abort', settle);
    if (to.destroyed || signal.aborted) settle();
  });
}
