/**
 * Errors as HTTP answers: `{"error":{"code","message","mend","details"}}` with the status of the catalogue. Nothing else ever leaves:
 * an unexpected error is `internal`, and its cause goes to the log.
 */
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { asPortcullisError, portcullisError, type ErrorDetails, type PortcullisError } from '../../schemas/errors.ts';
import type { GatewayContext } from '../context.ts';

export interface ErrorAnswer {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly mend: string;
    /** What filled the sentence, so that a client has the same error again. */
    readonly details: ErrorDetails;
  };
}

export function errorAnswer(error: PortcullisError): ErrorAnswer {
  const { code, message, mend, details } = error;
  return { error: { code, message, mend, details } };
}

const RETRY_AFTER_SECONDS = '1';

/** Answers one error, and counts it. No header may have been sent yet. */
export function sendError(ctx: Pick<GatewayContext, 'logger' | 'metrics'>, res: Response, thrown: unknown): void {
  const error = asHttpError(thrown);
  ctx.metrics.refusals.inc({ code: error.code });
  if (error.code === 'internal') ctx.logger.error({ err: thrown }, 'a call failed unexpectedly');
  if (error.edge.http === 503 || error.edge.http === 429) res.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  if (error.edge.http === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  // What is left of a refused body is not read: the connection cannot be used again.
  if (!res.req.complete) res.setHeader('Connection', 'close');
  res.status(error.edge.http).json(errorAnswer(error));
}

/** The last middleware of the app. */
export function errorMiddleware(ctx: Pick<GatewayContext, 'logger' | 'metrics'>): ErrorRequestHandler {
  return (thrown: unknown, _req: Request, res: Response, next: NextFunction) => {
    // Express cuts the connection then: half an answer must not look whole.
    if (res.headersSent) next(thrown);
    else sendError(ctx, res, thrown);
  };
}

/** For every path that nothing else answers. */
export function notFoundMiddleware(): RequestHandler {
  return (req, _res, next) => {
    next(portcullisError('not_found', { what: 'path', id: req.path.slice(0, 200) }));
  };
}

/** Express refuses a malformed percent-encoding of a path itself, with a plain error that carries a status. */
function asHttpError(thrown: unknown): PortcullisError {
  if (thrown instanceof URIError) return portcullisError('schema_invalid', { path: 'path', reason: 'is malformed' });
  return asPortcullisError(thrown);
}
