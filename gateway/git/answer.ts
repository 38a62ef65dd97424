/** Passes git's answer on as it comes. */
import type { Response } from 'express';
import { pipeline } from 'node:stream/promises';
import type { CgiAnswer } from './cgi.ts';

/** @param cut ends it, also when whoever asked does not read: what git has said by then waits here and keeps git's place */
export async function answerWith(res: Response, answer: CgiAnswer, cut: AbortSignal): Promise<void> {
  res.status(answer.status);
  for (const [name, value] of answer.headers) res.setHeader(name, value);
  res.write(answer.head);
  const whole = await pipeline(answer.rest, res, { end: false, signal: cut }).then(
    () => true,
    () => false,
  );
  if (!whole) answer.kill();
  // A pack that was cut must not look whole.
  if ((await answer.ended) && whole) res.end();
  else res.destroy();
}
