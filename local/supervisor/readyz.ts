/** Waiting for a part that says over HTTP when it is ready. */
import { setTimeout as delay } from 'node:timers/promises';

/** @throws Error naming the last answer, after `deadlineMs` or when `abandoned` */
export async function awaitReadyz(url: string, deadlineMs: number, abandoned: () => boolean): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const refusal = await askReadyz(url);
    if (refusal === null) return;
    if (performance.now() >= deadline || abandoned()) throw new Error(refusal);
    await delay(30);
  }
}

/** `null` when it says that it is ready, otherwise why not. */
export async function askReadyz(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    const body = await response.text();
    return response.ok ? null : `${url} answers ${response.status}: ${body.slice(0, 300)}`;
  } catch {
    return `${url} does not answer`;
  }
}
