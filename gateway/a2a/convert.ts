/** Our records as A2A 1.0 objects: the folded snapshot as a Task, a numbered event as what a stream carries. */
import { Role, TaskState, type Artifact, type Message, type StreamResponse, type Task } from '@a2a-js/sdk';
import { ERROR_CATALOGUE } from '../../schemas/errors.ts';
import {
  outputChunkPath,
  RESULT_ARTIFACT,
  VERIFY_EXTENSION,
  VERIFY_MEDIA_TYPES,
  type EventMetadata,
  type TaskMetadata,
} from '../../schemas/verify/a2a.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import type { NumberedTaskEvent, TaskSnapshot, TaskState as OurTaskState } from '../../schemas/verify/task.ts';
import type { RejectedTask } from './rejected.ts';

/** What a snapshot is shown with. */
export interface Shown {
  /** `null` while the task has none. */
  readonly result: VerifyResult | null;
  readonly events?: { readonly list: readonly NumberedTaskEvent[]; readonly more: boolean };
  /** `false`: the artifacts are left out, as a list does unless asked. */
  readonly artifacts?: boolean;
}

export function taskOf(snapshot: TaskSnapshot, { result, events, artifacts = true }: Shown): Task {
  const metadata: TaskMetadata = {
    seq: snapshot.seq,
    phase: snapshot.phase,
    detail: snapshot.detail,
    outcome: snapshot.outcome,
    requestDigest: snapshot.requestDigest,
    pair: snapshot.pair,
    satisfied: result?.satisfied ?? null,
    ...(events === undefined ? {} : { events: events.list, more: events.more }),
  };
  return {
    id: snapshot.taskId,
    contextId: snapshot.contextId,
    status: {
      state: stateOf(snapshot.state),
      message: statusMessage(snapshot, snapshot.seq, snapshot.detail),
      timestamp: timestamp(snapshot.updatedAt),
    },
    artifacts: artifacts && result !== null ? [resultArtifact(result)] : [],
    history: [],
    metadata: { [VERIFY_EXTENSION]: metadata },
  };
}

/** A task that policy refused; it never ran and has no events. */
export function rejectedTaskOf(rejected: RejectedTask, contextId: string, sentence: string): Task {
  const metadata: TaskMetadata = {
    seq: 0,
    phase: 'ended',
    detail: sentence,
    outcome: 'rejected',
    requestDigest: '',
    pair: rejected.pair,
    satisfied: false,
    refusal: rejected.code,
  };
  const ids = { taskId: rejected.id, contextId };
  return {
    id: rejected.id,
    contextId,
    status: {
      state: TaskState.TASK_STATE_REJECTED,
      message: statusMessage(ids, 0, sentence),
      timestamp: timestamp(rejected.at),
    },
    artifacts: [],
    history: [],
    metadata: { [VERIFY_EXTENSION]: metadata },
  };
}

/** What can still be said of a refusal when only its code is left. */
export function refusalSentence(code: RejectedTask['code']): string {
  return `Refused by policy (${code}). ${ERROR_CATALOGUE[code].mend}`;
}

/** One event of the log as one of the stream. `result` is shown with the event that ends the task. */
export function streamEventOf(task: TaskSnapshot, numbered: NumberedTaskEvent, result: VerifyResult | null) {
  const { event, seq, at } = numbered;
  const ids = { taskId: task.taskId, contextId: task.contextId };
  switch (event.type) {
    case 'status': {
      const metadata: EventMetadata = {
        seq,
        at,
        phase: event.phase,
        outcome: event.outcome,
        ...(result === null ? {} : { satisfied: result.satisfied }),
      };
      const status = {
        state: stateOf(event.state),
        message: statusMessage(task, seq, event.detail),
        timestamp: timestamp(at),
      };
      return stream({
        $case: 'statusUpdate',
        value: { ...ids, status, metadata: { [VERIFY_EXTENSION]: metadata } },
      });
    }
    case 'output': {
      const metadata: EventMetadata = { seq, at, chunk: event.chunk, bytes: event.bytes };
      return stream({
        $case: 'artifactUpdate',
        value: {
          ...ids,
          artifact: outputArtifact(task.taskId, event.stream, event.chunk),
          append: event.chunk > 0,
          lastChunk: false,
          metadata: { [VERIFY_EXTENSION]: metadata },
        },
      });
    }
  }
}

/** The result as an artifact of the stream. It belongs to the terminal event, so it has no number of its own. */
export function resultEventOf(task: TaskSnapshot, result: VerifyResult): StreamResponse {
  return stream({
    $case: 'artifactUpdate',
    value: {
      taskId: task.taskId,
      contextId: task.contextId,
      artifact: resultArtifact(result),
      append: false,
      lastChunk: true,
      metadata: undefined,
    },
  });
}

export function taskEventOf(task: Task): StreamResponse {
  return stream({ $case: 'task', value: task });
}

function stream(payload: NonNullable<StreamResponse['payload']>): StreamResponse {
  return { payload };
}

/** Output is never in the stream: each chunk is named, and fetched by who wants it. */
function outputArtifact(taskId: string, name: string, chunk: number): Artifact {
  const url = outputChunkPath(taskId, name, chunk);
  return {
    artifactId: name,
    name,
    description: '',
    parts: [
      {
        content: { $case: 'url', value: url },
        mediaType: 'application/octet-stream',
        filename: '',
        metadata: undefined,
      },
    ],
    metadata: undefined,
    extensions: [VERIFY_EXTENSION],
  };
}

function resultArtifact(result: VerifyResult): Artifact {
  return {
    artifactId: RESULT_ARTIFACT,
    name: 'Result of the verification',
    description: '',
    parts: [
      {
        content: { $case: 'data', value: result },
        mediaType: VERIFY_MEDIA_TYPES.result,
        filename: '',
        metadata: undefined,
      },
    ],
    metadata: undefined,
    extensions: [VERIFY_EXTENSION],
  };
}

function statusMessage(
  task: { readonly taskId: string; readonly contextId: string },
  seq: number,
  text: string,
): Message | undefined {
  if (text === '') return undefined;
  return {
    messageId: `${task.taskId}.${seq}`,
    contextId: task.contextId,
    taskId: task.taskId,
    role: Role.ROLE_AGENT,
    parts: [{ content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function stateOf(state: OurTaskState): TaskState {
  switch (state) {
    case 'submitted':
      return TaskState.TASK_STATE_SUBMITTED;
    case 'working':
      return TaskState.TASK_STATE_WORKING;
    case 'completed':
      return TaskState.TASK_STATE_COMPLETED;
    case 'failed':
      return TaskState.TASK_STATE_FAILED;
    case 'canceled':
      return TaskState.TASK_STATE_CANCELED;
  }
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}
