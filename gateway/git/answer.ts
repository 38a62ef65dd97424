/** Passes git's answer on as it comes. */
import type { Response } from 'express';
import { pipeline } from 'node:stream/promises';
import type { CgiAnswer } from './cgi.ts';

export async function answerWith(res: Response, answer: CgiAnswer): Promise<void> {
  res.status(answer.status);
  for (const [name, value] of answer.headers) res.setHeader(name, value);
  res.write(answer.head);
  await pipeline(answer.rest, res, { end: false }).catch(() => answer.kill());
  // A pack that was cut must not look whole.
  if (await answer.ended) res.end();
  else res.destroy();
}
