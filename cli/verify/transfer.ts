/** Says how far something large has come: nothing while it is quick, then a line every few seconds. */
import type { Readable } from 'node:stream';

export type Report = (text: string) => void;

const EVERY_MS = 5_000;

/** Does the work, and says every few seconds what `words` say by then. */
export async function whileReporting<T>(report: Report, words: () => string, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => report(words()), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** How much of a stream has gone through, and for how long, in words. */
export function watchUpload(stream: Readable): () => string {
  const start = performance.now();
  let bytes = 0;
  stream.on('data', (part: Buffer) => (bytes += part.length));
  // Whoever listens sets it flowing; it flows when it is piped.
  stream.pause();
  return () => {
    const seconds = `${Math.round((performance.now() - start) / 1000)} s`;
    if (bytes < 1024) return `packing     the history, ${seconds} so far`;
    return `uploading   ${inWords(bytes)} of history so far, ${seconds}`;
  };
}

export function inWords(bytes: number): string {
  const mib = bytes / 2 ** 20;
  return mib < 1024 ? `${mib.toFixed(0)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
