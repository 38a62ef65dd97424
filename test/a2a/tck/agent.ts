/** The scripted agent: its tasks in memory, each with a log that any number of streams follow. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Role, TaskState, type Message, type StreamResponse, type Task } from '@a2a-js/sdk';
import { scenarioOf, textPart, type Step } from './scenarios.ts';

export type Event = NonNullable<StreamResponse['payload']>;

/** States in which nothing happens by itself any more; a stream ends there. */
export function rests(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || ended(state);
}

export function ended(state: TaskState): boolean {
  return [
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
  ].includes(state);
}

export class ScriptedTask {
  readonly id = randomUUID();
  readonly contextId: string;
  readonly log: Event[] = [];
  readonly #task: Task;
  readonly #grown = new EventEmitter().setMaxListeners(0);
  updatedAt = Date.now();

  constructor(contextId: string) {
    this.contextId = contextId;
    this.#task = {
      id: this.id,
      contextId,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: now() },
      artifacts: [],
      history: [],
      metadata: undefined,
    };
  }

  get state(): TaskState {
    return this.#task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
  }

  /** A copy that later events do not change. */
  snapshot(historyLength?: number): Task {
    const task = structuredClone(this.#task);
    if (historyLength === undefined) return task;
    return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
  }

  /** Takes a message and plays what it asks for, until the task rests. */
  async play(message: Message): Promise<void> {
    this.#task.history.push({ ...message, taskId: this.id, contextId: this.contextId });
    for (const step of scenarioOf(message.messageId) ?? []) {
      if (ended(this.state)) return;
      if (step.kind === 'wait') await delay(step.ms);
      else this.#take(step);
    }
  }

  cancel(): void {
    this.#take({ kind: 'status', state: TaskState.TASK_STATE_CANCELED });
  }

  /** Events from this place of the log on, until the task is `over` or the signal aborts. */
  async *follow(
    from: number,
    signal: AbortSignal,
    over: (state: TaskState) => boolean,
  ): AsyncGenerator<Event, void, undefined> {
    for (let place = from; ; place += 1) {
      while (this.log[place] === undefined) {
        if (over(this.state) || signal.aborted) return;
        await once(this.#grown, 'event', { signal }).catch(() => {});
      }
      const event = this.log[place];
      if (event !== undefined) yield event;
    }
  }

  #take(step: Exclude<Step, { readonly kind: 'wait' }>): void {
    const ids = { taskId: this.id, contextId: this.contextId };
    this.updatedAt = Date.now();
    if (step.kind === 'status') {
      const message = step.text === undefined ? undefined : agentMessage(ids, step.text);
      const status = { state: step.state, message, timestamp: now() };
      this.#task.status = status;
      this.log.push({ $case: 'statusUpdate', value: { ...ids, status, metadata: undefined } });
    } else {
      const { part, append = false, last = true } = step;
      const artifact = {
        artifactId: 'artifact',
        name: 'artifact',
        description: '',
        metadata: undefined,
        extensions: [],
      };
      const [known] = this.#task.artifacts;
      if (append && known !== undefined) known.parts.push(part);
      else this.#task.artifacts = [{ ...artifact, parts: [part] }];
      const value = { ...ids, artifact: { ...artifact, parts: [part] }, append, lastChunk: last, metadata: undefined };
      this.log.push({ $case: 'artifactUpdate', value });
    }
    this.#grown.emit('event');
  }
}

export function agentMessage(ids: { readonly taskId: string; readonly contextId: string }, text: string): Message {
  return {
    messageId: randomUUID(),
    ...ids,
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function now(): string {
  return new Date().toISOString();
}
