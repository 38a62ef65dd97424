/**
 * The A2A operations over the store and Temporal: the SDK's handler interface, answered from durable truth only, so that any
 * replica answers alike and none of them remembers anything. Authority was checked in front (front.ts); which task is the
 * caller's is checked here, on each.
 */
import type {
  AgentCard,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  Task,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import { isTerminalTaskState, type TaskSnapshot } from '../../schemas/verify/task.ts';
import type { GatewayContext } from '../context.ts';
import { admit, type Admitted } from './admit.ts';
import { ownRejectedTask, ownTask, requireTenant, taskNotFound } from './authority.ts';
import type { BoundHandler, TaskAddress } from './bound-handler.ts';
import { callOf, type Call } from './call.ts';
import { cancelTask } from './cancel.ts';
import {
  refusalSentence,
  rejectedTaskOf,
  resultEventOf,
  streamEventOf,
  taskEventOf,
  taskOf,
  type Shown,
} from './convert.ts';
import type { TaskFeed } from './feed.ts';
import { listPairTasks, requireHistoryLength } from './list.ts';
import { readSend } from './send.ts';
import { contextIdOf } from '../../activities/content/task-id.ts';

/** Events that one GetTask answers; `more` says that there are others. */
const EVENTS_AT_ONCE = 500;
/** Longer than any command may run: a blocking send ends by itself before the caller is forgotten. */
const BLOCKING_MS = 2 * 60 * 60 * 1000;

type Events = AsyncGenerator<StreamResponse, void, undefined>;

export class VerifyRequestHandler implements BoundHandler {
  readonly #ctx: GatewayContext;
  readonly #feed: TaskFeed;
  readonly #card: AgentCard;

  constructor(ctx: GatewayContext, feed: TaskFeed, card: AgentCard) {
    this.#ctx = ctx;
    this.#feed = feed;
    this.#card = card;
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#card);
  }

  getAuthenticatedExtendedAgentCard(_params: unknown, context: ServerCallContext): Promise<never> {
    return this.#guard(context, () =>
      Promise.reject(portcullisError('unsupported_operation', { reason: 'there is no extended agent card' })),
    );
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    return this.#guard(context, async (call) => {
      const admitted = await this.#admit(params, call);
      if (admitted.kind === 'rejected') return this.#rejected(call, admitted);
      const task = await this.#read(call, admitted.taskId);
      if (params.configuration?.returnImmediately === true) return this.#show(task);
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(BLOCKING_MS)]);
      if (!isTerminalTaskState(task.state)) {
        await this.#feed.untilEnded(task.tenant, task.taskId, task.seq, signal);
      }
      return this.#show(await this.#read(call, admitted.taskId));
    });
  }

  async *sendMessageStream(params: SendMessageRequest, context: ServerCallContext): Events {
    const call = callOf(context);
    const admitted = await this.#admit(params, call);
    if (admitted.kind === 'rejected') {
      yield taskEventOf(this.#rejected(call, admitted));
      return;
    }
    const task = await this.#read(call, admitted.taskId);
    yield* this.#watch(call, task, task.seq);
  }

  getTask(params: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#guard(context, async (call) => {
      requireTenant(call.principal, params.tenant);
      requireHistoryLength(params.historyLength);
      const rejected = this.#rejectedById(call, params.id);
      if (rejected !== null) return rejected;
      const task = await ownTask(this.#ctx, call.principal, params.id);
      if (call.afterSeq === null) return this.#show(task);
      const list = await this.#ctx.store.readEvents(task.tenant, task.taskId, call.afterSeq, EVENTS_AT_ONCE);
      return this.#show(task, { events: { list, more: list.length === EVENTS_AT_ONCE } });
    });
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext) {
    return this.#guard(context, (call) => {
      requireTenant(call.principal, params.tenant);
      const pair = call.principal.use === 'operator' ? call.pair : call.principal.pair;
      if (pair === null) {
        throw portcullisError('schema_invalid', { path: 'pair', reason: 'must be named in the query by an operator' });
      }
      return listPairTasks(this.#ctx.store, call.principal.tenant, pair, params);
    });
  }

  cancelTask(params: TaskAddress, context: ServerCallContext): Promise<Task> {
    return this.#guard(context, async (call) => {
      requireTenant(call.principal, params.tenant);
      if (this.#rejectedById(call, params.id) !== null) {
        throw portcullisError('task_not_cancelable', { state: 'rejected' });
      }
      const task = await ownTask(this.#ctx, call.principal, params.id);
      return this.#show(await cancelTask(this.#ctx, this.#feed, task, call.signal));
    });
  }

  async *resubscribe(params: TaskAddress, context: ServerCallContext): Events {
    const call = callOf(context);
    requireTenant(call.principal, params.tenant);
    const rejected = this.#rejectedById(call, params.id);
    const task = rejected === null ? await ownTask(this.#ctx, call.principal, params.id) : null;
    if (task === null || isTerminalTaskState(task.state)) {
      const reason = 'the task has ended; GetTask with afterSeq answers what happened';
      throw portcullisError('unsupported_operation', { reason });
    }
    // A position beyond the log is nobody's: the snapshot then holds everything there is.
    yield* this.#watch(call, task, Math.min(call.lastEventId ?? task.seq, task.seq));
  }

  createTaskPushNotificationConfig(_params: unknown, context: ServerCallContext) {
    return this.#pushIsOff(context);
  }

  getTaskPushNotificationConfig(_params: unknown, context: ServerCallContext) {
    return this.#pushIsOff(context);
  }

  listTaskPushNotificationConfigs(_params: unknown, context: ServerCallContext) {
    return this.#pushIsOff(context);
  }

  deleteTaskPushNotificationConfig(_params: unknown, context: ServerCallContext) {
    return this.#pushIsOff(context);
  }

  #pushIsOff(context: ServerCallContext): Promise<never> {
    return this.#guard(context, () => Promise.reject(portcullisError('push_not_supported')));
  }

  async #admit(params: SendMessageRequest, call: Call): Promise<Admitted> {
    requireTenant(call.principal, params.tenant);
    return admit(this.#ctx, call.principal, await readSend(this.#ctx, call.principal, params));
  }

  /** The snapshot, then every event after `after`; the result is shown just before the event that ends the task. */
  async *#watch(call: Call, task: TaskSnapshot, after: number): Events {
    // The snapshot carries the position the caller has, not its own: what lies between follows, and a cut there loses nothing.
    call.frameId = after;
    yield taskEventOf(await this.#show(task));
    if (isTerminalTaskState(task.state) && after >= task.seq) return;
    for await (const numbered of this.#feed.events(task.tenant, task.taskId, after, call.signal)) {
      const ends = numbered.event.type === 'status' && isTerminalTaskState(numbered.event.state);
      const result = ends ? await this.#ctx.store.readResult(task.tenant, task.taskId) : null;
      if (result !== null) {
        call.frameId = null;
        yield resultEventOf(task, result);
      }
      call.frameId = numbered.seq;
      yield streamEventOf(task, numbered, result);
    }
  }

  async #read(call: Call, taskId: string): Promise<TaskSnapshot> {
    const task = await this.#ctx.store.readTask(call.principal.tenant, taskId);
    if (task === null) throw taskNotFound(taskId);
    return task;
  }

  async #show(task: TaskSnapshot, shown: Partial<Shown> = {}): Promise<Task> {
    const ended = isTerminalTaskState(task.state);
    const result = ended ? await this.#ctx.store.readResult(task.tenant, task.taskId) : null;
    return taskOf(task, { result, ...shown });
  }

  #rejected(call: Call, { task, sentence }: Extract<Admitted, { kind: 'rejected' }>): Task {
    return rejectedTaskOf(task, this.#rejectedContext(call, task.pair), sentence);
  }

  #rejectedById(call: Call, id: string): Task | null {
    const rejected = ownRejectedTask(this.#ctx, call.principal, id);
    if (rejected === null) return null;
    return rejectedTaskOf(rejected, this.#rejectedContext(call, rejected.pair), refusalSentence(rejected.code));
  }

  /** Refusals of a pair share a context of their own: they belong to no execution. */
  #rejectedContext(call: Call, pair: string): string {
    return contextIdOf(this.#ctx.keys.taskIdKey, call.principal.tenant, pair, '');
  }

  async #guard<T>(context: ServerCallContext, operation: (call: Call) => Promise<T>): Promise<T> {
    const call = callOf(context);
    try {
      return await operation(call);
    } catch (thrown) {
      call.failure = asPortcullisError(thrown);
      throw call.failure;
    }
  }
}
