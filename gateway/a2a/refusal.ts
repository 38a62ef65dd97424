/** Refusals on the record: `audit:a2a:rejected` holds who asked what and why not, at most 256 bytes of it. */
import type { ErrorCode, PortcullisError } from '../../schemas/errors.ts';
import type { WireRequest } from '../../schemas/verify/request.schema.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';

const INPUT_BYTES = 256;

/** Well-formed and not permitted: the caller gets a task that ended as rejected. */
const POLICY_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'tool_unknown',
  'template_mismatch',
  'slot_invalid',
  'cwd_invalid',
  'expect_not_permitted',
  'limit',
  'role',
  'kill_switch',
]);

/** Refused too, and recorded, but answered as an error: there is nothing this caller could have a task of. */
const OTHER_REFUSALS: ReadonlySet<ErrorCode> = new Set(['pair_mismatch', 'not_allowed', 'store_full']);

/**
 * Records a refusal before it is answered. `rejected`: answer with a rejected task; `error`: with the error itself.
 * @throws `store_unavailable` when a policy refusal cannot be recorded
 */
export async function auditRefusal(
  ctx: GatewayContext,
  principal: Principal,
  wire: WireRequest,
  error: PortcullisError,
): Promise<'rejected' | 'error'> {
  const rejected = POLICY_REFUSALS.has(error.code);
  if (!rejected && !OTHER_REFUSALS.has(error.code)) return 'error';
  // Those that are answered as errors are counted with the answer.
  if (rejected) ctx.metrics.refusals.inc({ code: error.code });
  try {
    await ctx.store.recordRejection(principal.tenant, {
      at: await ctx.store.now(),
      pair: wire.pair_id,
      principal: principal.id,
      reason: error.code,
      input: boundedInput(wire),
    });
  } catch (thrown) {
    // A full or absent store must not turn an authority error into another one.
    if (rejected) throw thrown;
    ctx.logger.warn({ err: thrown, code: error.code }, 'a refusal could not be recorded');
  }
  return rejected ? 'rejected' : 'error';
}

/** The start of what was asked, cut at a character. */
export function boundedInput(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value)).subarray(0, INPUT_BYTES);
  // A character cut in half becomes U+FFFD, which would lengthen it again.
  return new TextDecoder().decode(bytes).replace(/\uFFFD+$/, '');
}
