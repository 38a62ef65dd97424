/** A task token as Temporal makes it, made by somebody who only knows public ids. It is plain protobuf without a signature. */
import proto from '@temporalio/proto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { lengthDelimited } from '../../gateway/door/wire.ts';
import { pollUntil } from '../support/poll.ts';

/** The token of the first activity of a workflow, once it has started. */
export async function forgedToken(temporal: Client, handle: WorkflowHandle): Promise<Buffer> {
  const { namespaceInfo } = await temporal.workflowService.describeNamespace({ namespace: 'default' });
  const description = await pollUntil(
    async () => {
      const described = await handle.describe();
      return described.raw.pendingActivities?.[0]?.lastStartedTime ? described : null;
    },
    { what: 'the activity to start' },
  );
  const text = (field: number, value: string) => lengthDelimited(field, Buffer.from(value));
  const varint = (field: number, value: number) => Buffer.of(field * 8, value);
  return Buffer.concat([
    text(1, namespaceInfo?.id ?? ''),
    text(2, description.workflowId),
    text(3, description.runId),
    varint(4, 5),
    varint(5, 1),
    text(6, '1'),
    text(8, 'runCommand'),
  ]);
}

const { workflowservice, common } = proto.temporal.api;

/** One JSON value as the SDK sends it. */
export function jsonPayloads(value: unknown) {
  return {
    payloads: [
      common.v1.Payload.create({
        metadata: { encoding: Buffer.from('json/plain') },
        data: Buffer.from(JSON.stringify(value)),
      }),
    ],
  };
}

export function completion(taskToken: Uint8Array, value: unknown): Uint8Array {
  return workflowservice.v1.RespondActivityTaskCompletedRequest.encode({
    taskToken,
    namespace: 'default',
    identity: 'test',
    result: jsonPayloads(value),
  }).finish();
}

export function heartbeat(taskToken: Uint8Array, details?: unknown): Uint8Array {
  return workflowservice.v1.RecordActivityTaskHeartbeatRequest.encode({
    taskToken,
    namespace: 'default',
    identity: 'test',
    ...(details === undefined ? {} : { details: jsonPayloads(details) }),
  }).finish();
}

export function poll(
  queue: string,
  change: { namespace?: string; kind?: proto.temporal.api.enums.v1.TaskQueueKind; normalName?: string } = {},
): Uint8Array {
  return workflowservice.v1.PollActivityTaskQueueRequest.encode({
    namespace: change.namespace ?? 'default',
    identity: 'test',
    taskQueue: {
      name: queue,
      kind: change.kind ?? proto.temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
      normalName: change.normalName ?? '',
    },
  }).finish();
}

/** The token in the answer to a poll; empty when there was no task. */
export function tokenOf(answer: Uint8Array): Uint8Array {
  return workflowservice.v1.PollActivityTaskQueueResponse.decode(answer).taskToken;
}
