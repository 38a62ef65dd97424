/** The gateway's error answers, of the A2A front and of its other parts, as errors of the catalogue. */
import { z } from 'zod';
import { isErrorCode, portcullisError, type ErrorDetails, type PortcullisError } from '../schemas/errors.ts';
import { A2A_ERROR_CODE_FIELD } from '../schemas/verify/a2a.ts';

const details = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** `{"error":{"code":"not_found",…}}` of the operator and workspace API. */
const plain = z.looseObject({ error: z.looseObject({ code: z.string(), details: details.optional() }) });

/** google.rpc.Status of A2A: the catalogue's code is in the metadata of its ErrorInfo. */
const a2a = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    details: z.array(z.looseObject({ metadata: z.record(z.string(), z.string()).optional() })),
  }),
});

/** The error behind an answer; one that says nothing known is `internal`, or `gateway_unavailable` from a proxy in front. */
export function errorOf(status: number, body: string): PortcullisError {
  const value = jsonOf(body);
  const simple = plain.safeParse(value);
  if (simple.success) return named(simple.data.error.code, simple.data.error.details ?? {}) ?? unknown(status);
  const wrapped = a2a.safeParse(value);
  const metadata = wrapped.success ? wrapped.data.error.details[0]?.metadata : undefined;
  const code = metadata?.[A2A_ERROR_CODE_FIELD];
  if (code !== undefined) return named(code, metadata ?? {}) ?? unknown(status);
  return unknown(status);
}

function named(code: string, filled: ErrorDetails): PortcullisError | null {
  return isErrorCode(code) ? portcullisError(code, filled) : null;
}

function unknown(status: number): PortcullisError {
  const cause = new Error(`the answer was ${status} and named no error`);
  if (status === 502 || status === 504) return portcullisError('gateway_unavailable', { url: '(a proxy)' }, cause);
  return portcullisError('internal', {}, cause);
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
