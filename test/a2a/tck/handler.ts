/** The operations of A2A over the scripted agent: what the bindings are tested with. */
import { randomUUID } from 'node:crypto';
import {
  Role,
  TaskState,
  type AgentCard,
  type GetTaskRequest,
  type ListTasksRequest,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { BoundHandler, TaskAddress } from '../../../gateway/a2a/bound-handler.ts';
import { callOf } from '../../../gateway/a2a/call.ts';
import { pageOf, requireHistoryLength } from '../../../gateway/a2a/list.ts';
import { asPortcullisError, portcullisError } from '../../../schemas/errors.ts';
import { agentMessage, ended, rests, ScriptedTask } from './agent.ts';
import { INPUT_MODES, tckCard } from './card.ts';
import { scenarioOf } from './scenarios.ts';

type Events = AsyncGenerator<StreamResponse, void, undefined>;

export class TckHandler implements BoundHandler {
  readonly #tasks = new Map<string, ScriptedTask>();

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(tckCard('http://127.0.0.1'));
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return guard(context, async () => {
      const message = readMessage(params);
      const { configuration } = params;
      requireHistoryLength(configuration?.historyLength);
      if (scenarioOf(message.messageId) === null) return this.#answer(message);
      const task = this.#taskFor(message);
      const playing = task.play(message);
      if (configuration?.returnImmediately !== true) await playing;
      return task.snapshot(configuration?.historyLength);
    });
  }

  async *sendMessageStream(params: SendMessageRequest, context: ServerCallContext): Events {
    const message = readMessage(params);
    if (scenarioOf(message.messageId) === null) {
      yield { payload: { $case: 'message', value: this.#answer(message) } };
      return;
    }
    const task = this.#taskFor(message);
    const from = task.log.length;
    const first = task.snapshot();
    void task.play(message);
    yield { payload: { $case: 'task', value: first } };
    for await (const payload of task.follow(from, callOf(context).signal, rests)) yield { payload };
  }

  getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return guard(context, () => {
      requireHistoryLength(historyLength);
      return this.#find(id).snapshot(historyLength);
    });
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext) {
    return guard(context, () => {
      const listed = [...this.#tasks.values()].map((task) => ({
        taskId: task.id,
        contextId: task.contextId,
        updatedAt: task.updatedAt,
        state: task.state,
        task,
      }));
      const { page, ...answer } = pageOf(listed, params);
      const tasks = page.map(({ task }) => {
        const shown = task.snapshot(params.historyLength);
        return params.includeArtifacts === true ? shown : { ...shown, artifacts: [] };
      });
      return { tasks, ...answer };
    });
  }

  cancelTask({ id }: TaskAddress, context: ServerCallContext): Promise<Task> {
    return guard(context, () => {
      const task = this.#find(id);
      if (task.state !== TaskState.TASK_STATE_CANCELED) {
        if (ended(task.state)) throw portcullisError('task_not_cancelable', { state: 'ended' });
        task.cancel();
      }
      return task.snapshot();
    });
  }

  async *resubscribe({ id }: TaskAddress, context: ServerCallContext): Events {
    const task = this.#find(id);
    if (ended(task.state)) throw portcullisError('unsupported_operation', { reason: 'the task has ended' });
    const from = task.log.length;
    yield { payload: { $case: 'task', value: task.snapshot() } };
    for await (const payload of task.follow(from, callOf(context).signal, ended)) yield { payload };
  }

  getAuthenticatedExtendedAgentCard(_params: unknown, context: ServerCallContext): Promise<never> {
    return guard(context, () => {
      throw portcullisError('unsupported_operation', { reason: 'there is no extended agent card' });
    });
  }

  createTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return pushIsOff(context);
  }

  getTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return pushIsOff(context);
  }

  listTaskPushNotificationConfigs(_params: unknown, context: ServerCallContext): Promise<never> {
    return pushIsOff(context);
  }

  deleteTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return pushIsOff(context);
  }

  #answer({ contextId }: Message): Message {
    const named = contextId === '' ? randomUUID() : contextId;
    return agentMessage({ taskId: '', contextId: named }, 'Direct message response');
  }

  /** The task a message is for: the one it names, or a new one. The suite reuses messageIds, so they name nothing here. */
  #taskFor({ taskId, contextId }: Message): ScriptedTask {
    if (taskId === '') {
      const task = new ScriptedTask(contextId === '' ? randomUUID() : contextId);
      this.#tasks.set(task.id, task);
      return task;
    }
    const task = this.#find(taskId);
    if (contextId !== '' && contextId !== task.contextId) {
      throw portcullisError('schema_invalid', { path: 'message.contextId', reason: "is not the task's" });
    }
    if (ended(task.state)) throw portcullisError('unsupported_operation', { reason: 'the task has ended' });
    return task;
  }

  #find(id: string): ScriptedTask {
    const task = this.#tasks.get(id);
    if (task === undefined) throw portcullisError('not_found', { what: 'task', id: id.slice(0, 128) });
    return task;
  }
}

function readMessage({ message, configuration }: SendMessageRequest): Message {
  if (message === undefined) throw portcullisError('schema_invalid', { path: 'message', reason: 'is missing' });
  if (message.messageId === '') {
    throw portcullisError('schema_invalid', { path: 'message.messageId', reason: 'is missing' });
  }
  if (message.role !== Role.ROLE_USER) {
    throw portcullisError('schema_invalid', { path: 'message.role', reason: 'must be ROLE_USER' });
  }
  if (message.parts.length === 0) {
    throw portcullisError('schema_invalid', { path: 'message.parts', reason: 'must not be empty' });
  }
  if (configuration?.taskPushNotificationConfig !== undefined) throw portcullisError('push_not_supported');
  const refused = message.parts.find(({ mediaType }) => !INPUT_MODES.includes(mediaType));
  if (refused !== undefined) {
    throw portcullisError('content_type_not_supported', {
      reason: `its media type is ${refused.mediaType.slice(0, 80)}`,
    });
  }
  return message;
}

function pushIsOff(context: ServerCallContext): Promise<never> {
  return guard(context, () => {
    throw portcullisError('push_not_supported');
  });
}

/** Keeps the error where the bindings look for it, as the real handler does. */
async function guard<T>(context: ServerCallContext, operation: () => T | Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (thrown) {
    const failure = asPortcullisError(thrown);
    callOf(context).failure = failure;
    throw failure;
  }
}
