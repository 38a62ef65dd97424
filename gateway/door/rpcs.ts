/**
 * The nine RPCs that the door passes, and what each may say. Everything else of every service is refused. Field numbers:
 * temporal/api/workflowservice/v1/request_response.proto. A field that is not listed is refused: a newer SDK is let in
 * on purpose, never by accident.
 */
import { portcullisError } from '../../schemas/errors.ts';
import { executorQueue } from '../../schemas/queues.ts';
import { boundedFailure, checkHeartbeatDetails, checkReport } from './payloads.ts';
import { openToken, type SealBinding } from './seal.ts';
import { WireMessage } from './wire.ts';

export const WORKFLOW_SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';

/** Field of the task token, in every message that has one. */
export const TASK_TOKEN = 1;
const FAILURE = 2;

const TASK_QUEUE_KIND_NORMAL = 1;
const VERSIONED = 2;
const MAX_IDENTITY_CHARS = 256;

/** What a request is held against. */
export interface DoorScope {
  readonly namespace: string;
  readonly binding: SealBinding;
  readonly sealKey: Uint8Array;
}

/**
 * `plain`: passed as it is. `poll`: parked until there is a task, whose token is sealed on the way back. `sealed`: answers a
 * task that was dispatched before, so it is still allowed when the credential has expired or the store is away.
 */
export interface DoorRpc {
  readonly kind: 'plain' | 'poll' | 'sealed';
  /** The bytes to pass on. @throws codes of the catalogue when the request is not permitted */
  readonly admit: (request: WireMessage, scope: DoorScope) => Uint8Array;
}

export const DOOR_RPCS = {
  GetSystemInfo: { kind: 'plain', admit: (request) => permitted(request, []).bytes },
  DescribeNamespace: {
    kind: 'plain',
    admit: (request, scope) => {
      permitted(request, [1, 3]);
      requireNamespace(request.textOf(1), scope);
      return request.bytes;
    },
  },
  PollActivityTaskQueue: {
    kind: 'poll',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5, 6, 8, 9, 10]);
      requireNamespace(request.textOf(1), scope);
      requireQueue(permitted(request.message(2), [1, 2]), scope);
      requireIdentity(request.textOf(3));
      requireUnversioned(request);
      return request.bytes;
    },
  },
  RespondActivityTaskCompleted: {
    kind: 'sealed',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5, 7, 8]);
      const opened = admitSealed(request, scope);
      checkReport(request.message(2));
      return opened;
    },
  },
  RespondActivityTaskFailed: {
    kind: 'sealed',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5, 6, 8, 9]);
      const opened = admitSealed(request, scope);
      checkHeartbeatDetails(request.message(5));
      return new WireMessage(opened).spliced(FAILURE, boundedFailure(request.message(FAILURE)));
    },
  },
  RespondActivityTaskCanceled: {
    kind: 'sealed',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5, 7, 8]);
      const opened = admitSealed(request, scope);
      checkHeartbeatDetails(request.message(2));
      return opened;
    },
  },
  RecordActivityTaskHeartbeat: {
    kind: 'sealed',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5]);
      const opened = admitSealed(request, scope);
      checkHeartbeatDetails(request.message(2));
      return opened;
    },
  },
  ShutdownWorker: {
    kind: 'plain',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4, 5, 6, 7, 8]);
      requireNamespace(request.textOf(1), scope);
      // A sticky queue belongs to a workflow worker; naming one here would unload somebody else's.
      if (request.textOf(2) !== '') throw portcullisError('queue_foreign');
      requireIdentity(request.textOf(3));
      if (request.textOf(7) !== '') requireOwnQueue(request.textOf(7), scope);
      if (request.has(5)) requireOwnQueue(request.message(5).textOf(4), scope);
      return request.bytes;
    },
  },
  RecordWorkerHeartbeat: {
    kind: 'plain',
    admit: (request, scope) => {
      permitted(request, [1, 2, 3, 4]);
      requireNamespace(request.textOf(1), scope);
      requireIdentity(request.textOf(2));
      for (const heartbeat of request.everyOf(3)) requireOwnQueue(new WireMessage(heartbeat).textOf(4), scope);
      return request.bytes;
    },
  },
} as const satisfies Record<string, DoorRpc>;

export type DoorMethod = keyof typeof DOOR_RPCS;

export function isDoorMethod(name: string): name is DoorMethod {
  return Object.hasOwn(DOOR_RPCS, name);
}

function permitted(request: WireMessage, fields: readonly number[]): WireMessage {
  request.permitOnly(fields);
  return request;
}

/** Namespace and identity of an answer to a task, and its token opened. The four have their numbers in common. */
function admitSealed(request: WireMessage, { namespace, binding, sealKey }: DoorScope): Buffer {
  if (request.textOf(4) !== namespace) throw portcullisError('rpc_refused', { method: 'another namespace' });
  requireIdentity(request.textOf(3));
  return request.spliced(TASK_TOKEN, openToken(sealKey, binding, request.bytesOf(TASK_TOKEN)));
}

function requireNamespace(given: string, { namespace }: DoorScope): void {
  if (given !== namespace) throw portcullisError('rpc_refused', { method: 'another namespace' });
}

function requireQueue(queue: WireMessage, scope: DoorScope): void {
  requireOwnQueue(queue.textOf(1), scope);
  if (queue.numberOf(2) !== TASK_QUEUE_KIND_NORMAL) throw portcullisError('queue_foreign');
}

function requireOwnQueue(name: string, { binding }: DoorScope): void {
  if (name !== executorQueue(binding)) throw portcullisError('queue_foreign');
}

function requireIdentity(identity: string): void {
  if (identity.length > MAX_IDENTITY_CHARS) {
    throw portcullisError('schema_invalid', { path: 'identity', reason: 'is longer than 256 characters' });
  }
}

/** A versioned poll would register a deployment in the namespace, and those are limited and shared. */
function requireUnversioned(poll: WireMessage): void {
  if (poll.message(5).numberOf(2) !== 0 || poll.message(6).numberOf(3) === VERSIONED) {
    throw portcullisError('rpc_refused', { method: 'a versioned poll' });
  }
}
