/** One call of an A2A operation, whichever binding it came through: who calls, and where a stream of theirs stands. */
import type { ServerCallContext, User } from '@a2a-js/sdk/server';
import { portcullisError, type PortcullisError } from '../../schemas/errors.ts';
import type { Principal } from '../authority/authenticate.ts';

/** The bindings, as the agent card names them. */
export type Binding = 'HTTP+JSON' | 'JSONRPC';

export interface CallSettings {
  readonly binding: Binding;
  readonly principal: Principal;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  readonly afterSeq: number | null;
  readonly lastEventId: number | null;
  /** Pair that an operator names for a list; an agent's own pair otherwise. */
  readonly pair: string | null;
}

/** Travels through the SDK as the user of its call context: the one thing it hands on untouched. */
export class Call implements User {
  readonly isAuthenticated = true;
  readonly binding: Binding;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** GetTask: the events after this number are wanted too. */
  readonly afterSeq: number | null;
  /** Subscribe: the last event the caller has. */
  readonly lastEventId: number | null;
  readonly pair: string | null;
  /** Why the operation failed, kept because the SDK's own mapping knows A2A's errors only. */
  failure: PortcullisError | null = null;
  /** SSE id of the event that a stream yields now; `null`: an event without one. */
  frameId: number | null = null;

  constructor(settings: CallSettings) {
    this.binding = settings.binding;
    this.principal = settings.principal;
    this.signal = settings.signal;
    this.afterSeq = settings.afterSeq;
    this.lastEventId = settings.lastEventId;
    this.pair = settings.pair;
  }

  get userName(): string {
    return this.principal.id;
  }
}

/** The call behind a context of the SDK. @throws `internal` when a context was made elsewhere. */
export function callOf(context: ServerCallContext): Call {
  if (context.user instanceof Call) return context.user;
  throw portcullisError('internal');
}
