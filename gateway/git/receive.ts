/**
 * Takes a push. What it asks for is decided here before git sees any of it, and by git once more from configuration that only
 * we give it; the pack streams through, counted. No hook runs but ours, by which git asks once more before the ref moves.
 */
import type { Response } from 'express';
import { Readable } from 'node:stream';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { Incoming } from '../http/body.ts';
import { PUSH_MEMORY_KIB, pushConfig, type GitContext } from './access.ts';
import { answerWith } from './answer.ts';
import { runGitBackend } from './cgi.ts';
import { hooksDirectory } from './last-word.ts';
import { MAX_COMMAND_BYTES, readPushCommands, refusalOf, refusalReport, type PushCommands } from './push-commands.ts';
import { requireRoom } from './room.ts';

export const RECEIVE_PACK = '/git-receive-pack';
export const RECEIVE_PACK_REQUEST = 'application/x-git-receive-pack-request';
const RECEIVE_PACK_RESULT = 'application/x-git-receive-pack-result';

export interface Push {
  /** Absolute path of the bare repository. */
  readonly repository: string;
  /** The one ref that may be pushed. */
  readonly ref: string;
  /** Whether it may still be pushed. @throws what it is refused by */
  readonly mayPush: () => Promise<void>;
  readonly req: Incoming;
  readonly res: Response;
  /** Ends the answer. */
  readonly cut: AbortSignal;
}

/** Answers a push. @throws `schema_invalid`, `body_too_large`, `limit`, `stream_cut`, `internal` */
export async function receivePush(ctx: GitContext, push: Push): Promise<PushCommands> {
  const { req, res, repository, ref } = push;
  const { gitPushBytes, gitSeconds } = ctx.limits;
  if (Number(req.headers['content-length'] ?? 0) > gitPushBytes) throw tooLarge(gitPushBytes);
  const body = req.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  const { head, asked } = await readHead(body);
  const reason = refusalOf(asked, ref);
  // A client first asks with no command at all whether it may send a long body.
  if (asked.commands.length === 0 || reason !== null) {
    await drain(body, gitPushBytes - head.length);
    res.status(200).setHeader('Content-Type', RECEIVE_PACK_RESULT);
    res.end(reason === null ? Buffer.alloc(0) : refusalReport(asked, reason));
    if (reason !== null) ctx.metrics.refusals.inc({ code: 'not_allowed' });
    return asked;
  }
  await requireRoom(repository, ctx.limits);
  const lastWord = { hooks: await hooksDirectory(ctx.repositoriesDir), ask: () => refusedNow(ctx, push) };
  const answer = await runGitBackend({
    ...{ repository, leaf: RECEIVE_PACK, method: 'POST', query: '', contentType: RECEIVE_PACK_REQUEST, protocol: '' },
    body: Readable.from(counted(head, body, gitPushBytes)),
    seconds: gitSeconds,
    config: pushConfig(ref, ctx.limits),
    memoryKib: PUSH_MEMORY_KIB,
    lastWord,
  });
  res.once('close', () => answer.kill());
  // Its head comes at once; a body that turns out too long is still refused by name.
  await answer.fed;
  await answerWith(res, answer, push.cut);
  return asked;
}

/** Read when everything has come and was checked: a push may take as long as its sender likes. */
async function refusedNow({ metrics }: Pick<GitContext, 'metrics'>, { mayPush }: Push): Promise<string | null> {
  try {
    await mayPush();
    return null;
  } catch (thrown) {
    const { code, message } = asPortcullisError(thrown);
    metrics.refusals.inc({ code });
    return `${code}: ${message}`;
  }
}

async function readHead(body: AsyncIterator<Buffer>): Promise<{ head: Buffer; asked: PushCommands }> {
  let head = Buffer.alloc(0);
  for (;;) {
    const part = await next(body);
    if (part === null) throw portcullisError('schema_invalid', { path: 'body', reason: 'ends before its commands do' });
    head = Buffer.concat([head, part]);
    const asked = readPushCommands(head.subarray(0, MAX_COMMAND_BYTES + 4));
    if (asked !== null) return { head, asked };
  }
}

async function* counted(head: Buffer, body: AsyncIterator<Buffer>, limit: number): AsyncGenerator<Buffer> {
  let total = 0;
  for (let part: Buffer | null = head; part !== null; part = await next(body)) {
    total += part.length;
    if (total > limit) throw tooLarge(limit);
    yield part;
  }
}

/** Reads what is left, so that the client hears the answer, up to a bound. */
async function drain(body: AsyncIterator<Buffer>, limit: number): Promise<void> {
  let total = 0;
  for (let part = await next(body); part !== null; part = await next(body)) {
    total += part.length;
    if (total > limit) throw tooLarge(limit);
  }
}

async function next(body: AsyncIterator<Buffer>): Promise<Buffer | null> {
  try {
    const step = await body.next();
    return step.done === true ? null : step.value;
  } catch (thrown) {
    throw portcullisError('stream_cut', {}, thrown);
  }
}

function tooLarge(limit: number) {
  return portcullisError('body_too_large', { limit });
}
