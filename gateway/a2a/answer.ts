/** What both bindings do alike with an operation's outcome: answer an error, or pass a stream on. */
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { Response } from 'express';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import { VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';
import type { GatewayContext } from '../context.ts';
import type { Binding, Call } from './call.ts';
import { A2A_VERSION } from './card.ts';
import { errorAnswer } from './errors.ts';
import type { A2aFront } from './front.ts';
import type { A2aMetrics } from './metrics.ts';
import { EventStream, type StreamSettings } from './sse.ts';

/** The SDK's context for a call that passed the front. */
export function contextOf(call: Call): ServerCallContext {
  return new ServerCallContext({
    user: call,
    requestedExtensions: [VERIFY_EXTENSION],
    requestedVersion: A2A_VERSION,
  });
}

/** What the bindings need of the gateway: they know nothing of stores and workflows. */
export type BindingContext = Pick<GatewayContext, 'limits' | 'logger' | 'metrics'>;

export function sendFailure(
  ctx: BindingContext,
  binding: Binding,
  res: Response,
  thrown: unknown,
  id: string | number | null,
): void {
  // The SDK's and express's own errors are about input they could not read.
  const error = asPortcullisError(
    thrown instanceof URIError ? portcullisError('schema_invalid', { path: 'path', reason: 'is malformed' }) : thrown,
  );
  ctx.metrics.refusals.inc({ code: error.code });
  if (error.code === 'internal') ctx.logger.error({ err: error.cause ?? error }, 'an A2A operation failed');
  if (res.headersSent) {
    // Half an answer must not look whole.
    res.destroy();
    return;
  }
  const { status, headers, body } = errorAnswer(binding, error, id);
  // What is left of a refused body is not read: the connection cannot be used again.
  if (!res.req.complete) res.setHeader('Connection', 'close');
  res.status(status).set(headers).json(body);
}

/** How streams are passed on: the same for both bindings. */
export interface Streaming {
  readonly settings: StreamSettings;
  readonly metrics: A2aMetrics;
  readonly front: Pick<A2aFront, 'mayGoOn'>;
}

/**
 * Passes a stream on. What fails before the first event is thrown, to be answered as any error; what fails later is a cut.
 */
export async function sendStream<T>(
  ctx: BindingContext,
  { settings, metrics, front }: Streaming,
  call: Call,
  res: Response,
  events: AsyncGenerator<T, void, undefined>,
  shown: (event: T) => unknown,
): Promise<void> {
  const first = await events.next();
  const stream = new EventStream(res, settings, metrics, () => front.mayGoOn(res.req));
  try {
    for (let event = first; event.done !== true; event = await events.next()) {
      await stream.send(shown(event.value), call.frameId);
    }
    if (call.signal.aborted) stream.cut('gone');
    else stream.end();
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    if (error.code !== 'stream_cut') ctx.logger.warn({ err: thrown }, 'a stream was cut');
    stream.cut('failed');
  } finally {
    await events.return();
  }
}
