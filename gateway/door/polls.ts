/**
 * Polls that wait for a task. A parked poll is presence; a task that comes is handed out only when the credential is known,
 * at that moment, to be good.
 */
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { activePrincipal, type Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import type { PresenceKeeper } from '../presence/keeper.ts';
import { answerOf, deadlineOf, type DoorAnswer, type RawCall } from './raw-call.ts';
import { TASK_TOKEN, type DoorScope } from './rpcs.ts';
import { sealToken } from './seal.ts';
import { codeOf } from './status.ts';
import type { Upstream } from './upstream.ts';
import { WireMessage } from './wire.ts';

/** How often the credentials of parked polls are read again, and how often a held task asks whether the store is back. */
const RECHECK_MS = 1_000;
const HELD_RETRY_MS = 200;

interface Parked {
  readonly principal: Principal;
  readonly end: (reason: PortcullisError) => void;
}

export class ParkedPolls {
  readonly #ctx: GatewayContext;
  readonly #upstream: Upstream;
  readonly #presence: PresenceKeeper;
  readonly #parked = new Set<Parked>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(ctx: GatewayContext, upstream: Upstream, presence: PresenceKeeper) {
    this.#ctx = ctx;
    this.#upstream = upstream;
    this.#presence = presence;
    this.#timer = setInterval(() => this.#recheck(), RECHECK_MS);
    this.#timer.unref();
  }

  /** Parks one poll until a task, the server's own time-out, or an end. @throws `rate_limited` and what ended it */
  async park(scope: DoorScope, call: RawCall, principal: Principal, request: Uint8Array): Promise<DoorAnswer> {
    // Whoever polled may be gone already; then nothing would ever cancel this, and it would swallow a task.
    if (call.cancelled) throw portcullisError('executor_unavailable', { reason: 'its poll was cancelled' });
    this.#requireRoom(principal);
    const upstream = this.#upstream.call('PollActivityTaskQueue', request, deadlineOf(call), call.metadata);
    const ended = Promise.withResolvers<PortcullisError>();
    const parked = { principal, end: ended.resolve };
    const release = this.#presence.parked(scope.binding, call.getPeer());
    this.#parked.add(parked);
    this.#ctx.metrics.parkedPolls.inc();
    call.once('cancelled', () => upstream.cancel());
    try {
      const first = await Promise.race([upstream.answer, ended.promise]);
      if (first instanceof PortcullisError) {
        upstream.cancel();
        throw first;
      }
      if (!('ok' in first)) return answerOf(first);
      return { bytes: await this.#handOut(scope, call, principal, new WireMessage(first.ok), release) };
    } finally {
      this.#parked.delete(parked);
      this.#ctx.metrics.parkedPolls.dec();
      release();
    }
  }

  /** Ends every parked poll: executors come again, to a replica that is there. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const { end } of this.#parked) end(portcullisError('gateway_unavailable', { url: 'this replica' }));
  }

  #requireRoom(principal: Principal): void {
    if (this.#closed) throw portcullisError('gateway_unavailable', { url: 'this replica' });
    const own = [...this.#parked].filter(
      ({ principal: { tenant, id } }) => tenant === principal.tenant && id === principal.id,
    );
    if (own.length >= this.#ctx.limits.parkedPolls) throw portcullisError('rate_limited');
  }

  async #handOut(
    scope: DoorScope,
    call: RawCall,
    principal: Principal,
    task: WireMessage,
    release: () => void,
  ): Promise<Buffer> {
    const token = task.bytesOf(TASK_TOKEN);
    // The server's own time-out of a poll: no task.
    if (token.length === 0) return Buffer.from(task.bytes);
    try {
      await this.#requireStillGood(principal, call);
    } catch (thrown) {
      // The server counts the task as started: without this its workflow would wait for the heartbeat timeout.
      await this.#upstream.failTask(token, 'executor_unavailable', 'the task could not be handed out');
      throw thrown;
    }
    release();
    this.#presence.atWork(scope.binding, call.getPeer());
    return task.spliced(TASK_TOKEN, sealToken(scope.sealKey, scope.binding, token));
  }

  /** While revocation cannot be read the task is held, not handed out and not lost, for as long as the poll has. */
  async #requireStillGood(principal: Principal, call: RawCall): Promise<void> {
    const until = deadlineOf(call);
    for (;;) {
      if (call.cancelled) throw portcullisError('executor_unavailable', { reason: 'its poll was cancelled' });
      try {
        activePrincipal(await this.#ctx.credentials.look(principal.tenant, principal.id));
        return;
      } catch (thrown) {
        if (codeOf(thrown) !== 'store_unavailable' || Date.now() + HELD_RETRY_MS >= until) throw thrown;
      }
      await new Promise((resolve) => setTimeout(resolve, HELD_RETRY_MS));
    }
  }

  /** A revoked executor's poll ends, and with it its presence. */
  #recheck(): void {
    for (const { principal, end } of this.#parked) {
      this.#ctx.credentials
        .look(principal.tenant, principal.id)
        .then((view) => {
          // A remembered record says nothing new; a poll is not ended for what was not read.
          if (view.current) activePrincipal(view);
        })
        .catch((thrown: unknown) => {
          if (thrown instanceof PortcullisError && thrown.code === 'unauthenticated') end(thrown);
        });
    }
  }
}
