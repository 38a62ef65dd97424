/** One place where an answer of the server becomes a value that can be trusted, or a refusal. */
import type { z } from 'zod';
import { portcullisError } from '../../schemas/errors.ts';
import type { CallOptions } from './port.ts';
import { readRefusal, type Refusal, refusalError } from './refusal.ts';

/** What `openapi-fetch` gives. */
interface Exchange {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

export type Answer<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly refusal: Refusal };

/**
 * Awaits a call and reads its body. A refusal is an answer, since what it means depends on who asked.
 *
 * @throws `coder_unavailable` no answer came (what was asked may have happened), `coder_unreadable`
 */
export async function ask<Value>(
  operation: string,
  schema: z.ZodType<Value>,
  call: Promise<Exchange>,
  { signal }: CallOptions = {},
): Promise<Answer<Value>> {
  let exchange: Exchange;
  try {
    exchange = await call;
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof SyntaxError) {
      throw portcullisError('coder_unreadable', { operation, reason: 'it is not JSON' }, thrown);
    }
    throw portcullisError('coder_unavailable', { operation, reason: reasonOf(thrown) }, thrown);
  }
  const { data, error, response } = exchange;
  if (!response.ok) return { ok: false, refusal: readRefusal(response, error) };
  const read = schema.safeParse(data);
  if (!read.success) {
    const issue = read.error.issues[0];
    const reason = `${issue?.path.join('.') || 'it'} ${issue?.code ?? 'differs'}`;
    throw portcullisError('coder_unreadable', { operation, reason });
  }
  return { ok: true, value: read.data };
}

/** The value, or the refusal as an error of the catalogue. */
export async function expectAnswer<Value>(
  operation: string,
  schema: z.ZodType<Value>,
  call: Promise<Exchange>,
  options?: CallOptions,
): Promise<Value> {
  const answer = await ask(operation, schema, call, options);
  if (answer.ok) return answer.value;
  throw refusalError(operation, answer.refusal);
}

/** The system's own code where there is one: sentences of `fetch` are the same for everything. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'it failed';
  if (thrown.name === 'TimeoutError') return 'no answer in time';
  const cause: unknown = thrown.cause;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : thrown.message;
}
