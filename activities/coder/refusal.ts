/** What a refusal of the server means: told by its status and its validation fields, never by its sentences. */
import { z } from 'zod';
import type { ErrorCode } from '../../schemas/errors.ts';
import { type PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { retryAfterMs } from './bounded-fetch.ts';

export interface Refusal {
  readonly status: number;
  /** Validation fields, as named by the server; empty when it named none. */
  readonly fields: readonly string[];
  /** The server's id of the request, to find it in its log. */
  readonly requestId: string;
  readonly retryAfterMs: number;
}

const problem = z.object({ validations: z.array(z.object({ field: z.string() })).optional() });

export function readRefusal(response: Response, body: unknown): Refusal {
  const read = problem.safeParse(body);
  return {
    status: response.status,
    fields: read.success ? (read.data.validations ?? []).map(({ field }) => field) : [],
    requestId: response.headers.get('X-Coder-Request-Id') ?? '',
    retryAfterMs: response.status === 429 ? retryAfterMs(response) : 0,
  };
}

/** The error of the catalogue for a refusal that the caller has no better reading of. */
export function refusalError(operation: string, refusal: Refusal): PortcullisError {
  const { status, fields, requestId, retryAfterMs } = refusal;
  return portcullisError(refusalCode(status), {
    operation,
    status,
    fields: fields.join(', ') || 'none named',
    reason: `HTTP ${status}`,
    seconds: Math.ceil(retryAfterMs / 1000),
    requestId,
  });
}

export function refusalCode(status: number): ErrorCode {
  switch (status) {
    case 401:
      return 'coder_unauthenticated';
    case 403:
      return 'coder_forbidden';
    case 404:
      return 'coder_unseen';
    case 410:
      return 'coder_gone';
    // 406: the template version is still being imported, which passes by itself like a state does.
    case 406:
    case 409:
    case 412:
      return 'coder_conflict';
    case 429:
      return 'coder_rate_limited';
    default:
      return status >= 500 ? 'coder_unavailable' : 'coder_refused';
  }
}
