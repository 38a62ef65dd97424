/** One call at the door, from its credential to its answer. */
import { portcullisError, type PortcullisError } from '../../schemas/errors.ts';
import { activePrincipal, lookUp, seatOf, type Principal } from '../authority/authenticate.ts';
import type { CredentialView } from '../authority/credentials.ts';
import type { GatewayContext } from '../context.ts';
import type { PresenceKeeper } from '../presence/keeper.ts';
import { ParkedPolls } from './polls.ts';
import { DOOR_RPCS, TASK_TOKEN, type DoorMethod, type DoorScope } from './rpcs.ts';
import { openToken } from './seal.ts';
import { answerOf, deadlineOf, type DoorAnswer, type RawCall } from './raw-call.ts';
import { codeOf, statusOf, type DoorStatus } from './status.ts';
import type { Upstream } from './upstream.ts';
import { WireMessage } from './wire.ts';

export class DoorCalls {
  readonly #ctx: GatewayContext;
  readonly #upstream: Upstream;
  readonly #presence: PresenceKeeper;
  readonly #polls: ParkedPolls;

  constructor(ctx: GatewayContext, upstream: Upstream, presence: PresenceKeeper) {
    this.#ctx = ctx;
    this.#upstream = upstream;
    this.#presence = presence;
    this.#polls = new ParkedPolls(ctx, upstream, presence);
  }

  /** Never rejects: whatever is thrown becomes a status. */
  async serve(method: DoorMethod, call: RawCall): Promise<DoorAnswer> {
    try {
      const view = await lookUp(this.#ctx, authorization(call));
      const principal = DOOR_RPCS[method].kind === 'sealed' ? sealedPrincipal(view) : activePrincipal(view);
      const seat = seatOf(principal, `call ${method}`);
      this.#ctx.allowances.bytes.spend(`${principal.tenant}/${principal.id}`, call.request.length);
      const scope: DoorScope = {
        namespace: this.#ctx.namespace,
        binding: { ...seat, workspace: principal.workspace },
        sealKey: this.#ctx.keys.sealKey,
      };
      return await this.#serveIn(scope, method, call, principal);
    } catch (thrown) {
      return this.#refused(method, call, thrown);
    }
  }

  /** A method that nobody may call, with whatever credential. The bearer was genuine, so the log can say whose. */
  async refuse(method: string, call: RawCall, error: PortcullisError): Promise<DoorAnswer> {
    return Promise.resolve(this.#refused(method, call, error));
  }

  close(): void {
    this.#polls.close();
  }

  async #serveIn(scope: DoorScope, method: DoorMethod, call: RawCall, principal: Principal): Promise<DoorAnswer> {
    const request = new WireMessage(call.request);
    // Read at once: a call whose connection is gone cannot say where it came from.
    const connection = call.getPeer();
    const admitted = await this.#admit(scope, method, request);
    if (DOOR_RPCS[method].kind === 'poll') return this.#polls.park(scope, call, principal, admitted);
    if (method === 'RecordActivityTaskHeartbeat' && !call.cancelled) this.#presence.atWork(scope.binding, connection);
    if (method === 'ShutdownWorker') void this.#presence.stopped(scope.binding, connection);
    const upstream = this.#upstream.call(method, admitted, deadlineOf(call), call.metadata);
    call.once('cancelled', () => upstream.cancel());
    return answerOf(await upstream.answer);
  }

  /**
   * An answer to a task that its schema refuses can be given again only by the same executor, which would say the same: the
   * task ends as failed here and now, instead of at its heartbeat timeout.
   */
  async #admit(scope: DoorScope, method: DoorMethod, request: WireMessage): Promise<Uint8Array> {
    try {
      return DOOR_RPCS[method].admit(request, scope);
    } catch (thrown) {
      if (endsTask(method)) await this.#failOpened(scope, request, codeOf(thrown));
      throw thrown;
    }
  }

  async #failOpened(scope: DoorScope, request: WireMessage, type: string): Promise<void> {
    let token: Uint8Array;
    try {
      token = openToken(scope.sealKey, scope.binding, request.bytesOf(TASK_TOKEN));
    } catch {
      return;
    }
    await this.#upstream.failTask(token, type, 'what the executor answered was refused at the door');
  }

  #refused(method: string, call: RawCall, thrown: unknown): DoorStatus {
    const code = codeOf(thrown);
    this.#ctx.metrics.refusals.inc({ code });
    if (code === 'internal') this.#ctx.logger.error({ err: thrown, method }, 'a call at the door failed unexpectedly');
    else this.#ctx.logger.warn({ code, method, peer: call.getPeer() }, 'the door refused a call');
    return statusOf(thrown);
  }
}

/** Whoever answers a task that was dispatched to it before: expired is fine, and a record that was read up to a minute ago. */
function sealedPrincipal({ record }: CredentialView): Principal {
  // NOT_FOUND is what makes the SDK stop the activity at once; anything else it only logs.
  if (record?.state !== 'active') throw portcullisError('token_unsealed');
  return record;
}

function endsTask(method: DoorMethod): boolean {
  return DOOR_RPCS[method].kind === 'sealed' && method !== 'RecordActivityTaskHeartbeat';
}

function authorization(call: RawCall): string | undefined {
  const [value] = call.metadata.get('authorization');
  return typeof value === 'string' ? value : undefined;
}
