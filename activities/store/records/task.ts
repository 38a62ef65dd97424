/** Stored records of tasks: the accepted request, the unchanging part of the snapshot, the events. */
import { z } from 'zod';
import { OUTPUT_STREAMS } from '../../../schemas/keys.ts';
import { WORKING_DIRECTORIES, type AcceptedRequest, type ResolvedRequest } from '../../../schemas/verify/request.ts';
import { VERIFY_STATUSES } from '../../../schemas/verify/result.ts';
import { TASK_PHASES, TASK_STATES, type TaskEvent, type TaskSnapshot } from '../../../schemas/verify/task.ts';
import { count, executorRole, pinnedSubject, policyRef, recordDigest, routingRef } from './fields.ts';

const resolvedRequest: z.ZodType<ResolvedRequest> = z.strictObject({
  schema: z.literal('portcullis/verify-request/v1'),
  tenant: z.string(),
  pair: z.string(),
  kind: z.literal('command'),
  cwd: z.enum(WORKING_DIRECTORIES),
  argv: z.array(z.string()),
  timeoutSecs: count,
  expect: z.strictObject({ exitCode: count, artifacts: z.array(z.string()) }),
  executor: executorRole,
  subject: pinnedSubject,
  attempt: count,
});

export const acceptedRequestRecord: z.ZodType<AcceptedRequest> = z.strictObject({
  schema: z.literal('portcullis/accepted-request/v1'),
  taskId: z.string(),
  workflowId: z.string(),
  requestDigest: recordDigest('request'),
  request: resolvedRequest,
  principal: z.string(),
  workspaceGeneration: count,
  workspace: z.string(),
  sequence: count,
  policy: policyRef,
  routing: routingRef.nullable(),
  acceptedAt: count,
});

const state = z.enum(TASK_STATES);
const phase = z.enum(TASK_PHASES);
const outcome = z.enum(VERIFY_STATUSES).nullable();

export const taskEventRecord: z.ZodType<TaskEvent> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('status'), state, phase, detail: z.string(), outcome }),
  z.strictObject({ type: z.literal('output'), stream: z.enum(OUTPUT_STREAMS), chunk: count, bytes: count }),
]);

/** A snapshot put together from the unchanging part and the fields that events fold into. */
export const taskSnapshotRecord: z.ZodType<TaskSnapshot> = z.strictObject({
  schema: z.literal('portcullis/task/v1'),
  taskId: z.string(),
  contextId: z.string(),
  tenant: z.string(),
  pair: z.string(),
  owner: z.strictObject({ role: z.string(), principal: z.string() }),
  executor: z.strictObject({ role: executorRole, workspaceGeneration: count }),
  workflowId: z.string(),
  requestDigest: recordDigest('request'),
  state,
  phase,
  detail: z.string(),
  outcome,
  seq: count,
  createdAt: count,
  updatedAt: count,
});
