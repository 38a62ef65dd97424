/** Resolves when more can be written, or when nobody reads any more. */
import type { Writable } from 'node:stream';

export function drained(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      to.off('drain', go).off('close', go);
      resolve();
    };
    to.once('drain', go).once('close', go);
    if (to.destroyed) go();
  });
}
