/** Reads what SendMessage carries: exactly one data part that is a verify request, in a message that starts a task. */
import { Role, type SendMessageRequest } from '@a2a-js/sdk';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import { VERIFY_MEDIA_TYPES } from '../../schemas/verify/a2a.ts';
import { parseWireRequest, type WireRequest } from '../../schemas/verify/request.schema.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import type { Ask } from './admit.ts';
import { ownRejectedTask, ownTask } from './authority.ts';
import { boundedInput } from './refusal.ts';
import { contextIdOf } from '../../activities/content/task-id.ts';

const MESSAGE_ID = /^[\x21-\x7e]{1,256}$/;
const DATA_MEDIA_TYPES: readonly string[] = ['', 'application/json', VERIFY_MEDIA_TYPES.request];

/**
 * @throws `schema_invalid`, `content_type_not_supported`, `unsupported_operation` (a follow-up to a task, a reserved kind),
 *   `push_not_supported`, `not_found` (a task that is not the caller's)
 */
export async function readSend(ctx: GatewayContext, principal: Principal, params: SendMessageRequest): Promise<Ask> {
  const { message, configuration } = params;
  if (message === undefined) throw invalid('message', 'is missing');
  if (!MESSAGE_ID.test(message.messageId)) {
    throw invalid('message.messageId', 'must be 1 to 256 visible ASCII characters');
  }
  if (message.role !== Role.ROLE_USER) throw invalid('message.role', 'must be ROLE_USER');
  if (configuration?.taskPushNotificationConfig !== undefined) throw portcullisError('push_not_supported');
  if (message.taskId !== '') await refuseFollowUp(ctx, principal, message.taskId);
  const wire = await recorded(ctx, principal, params, () => readParts(message.parts));
  await requireContext(ctx, principal, wire, message.contextId);
  return { wire, messageId: message.messageId };
}

function readParts(parts: NonNullable<SendMessageRequest['message']>['parts']): WireRequest {
  const [part] = parts;
  if (part === undefined || parts.length !== 1) {
    throw portcullisError('content_type_not_supported', { reason: `it has ${parts.length} parts` });
  }
  if (part.content?.$case !== 'data') {
    throw portcullisError('content_type_not_supported', { reason: `it is a ${part.content?.$case ?? 'blank'} part` });
  }
  if (!DATA_MEDIA_TYPES.includes(part.mediaType)) {
    throw portcullisError('content_type_not_supported', { reason: `its media type is ${part.mediaType.slice(0, 80)}` });
  }
  return parseWireRequest(part.content.value);
}

/** Malformed requests are on the record too, as far as the store takes them. */
async function recorded(
  ctx: GatewayContext,
  principal: Principal,
  params: SendMessageRequest,
  read: () => WireRequest,
): Promise<WireRequest> {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof PortcullisError) {
      await ctx.store
        .recordRejection(principal.tenant, {
          at: await ctx.store.now(),
          pair: principal.pair,
          principal: principal.id,
          reason: 'schema',
          input: boundedInput(params.message?.parts.map((part): unknown => part.content?.value) ?? null),
        })
        .catch((failure: unknown) => ctx.logger.warn({ err: failure }, 'a malformed request could not be recorded'));
    }
    throw thrown;
  }
}

/** A verification is asked once and answered; there is nothing to add to it. */
async function refuseFollowUp(ctx: GatewayContext, principal: Principal, taskId: string): Promise<never> {
  if (ownRejectedTask(ctx, principal, taskId) === null) await ownTask(ctx, principal, taskId);
  throw portcullisError('unsupported_operation', { reason: 'a verification takes no further messages' });
}

/** Contexts are made here; naming one is allowed when it is the pair's current one. */
async function requireContext(
  ctx: GatewayContext,
  principal: Principal,
  wire: WireRequest,
  named: string,
): Promise<void> {
  if (named === '') return;
  const own = principal.use === 'operator' || principal.pair === wire.pair_id;
  const head = own ? await ctx.store.readHead(principal.tenant, wire.pair_id) : null;
  const current =
    head === null ? null : contextIdOf(ctx.keys.taskIdKey, principal.tenant, wire.pair_id, head.execution);
  if (named !== current) throw invalid('message.contextId', "is not the context of this pair's execution");
}

function invalid(path: string, reason: string): PortcullisError {
  return portcullisError('schema_invalid', { path, reason });
}
