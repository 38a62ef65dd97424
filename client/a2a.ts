/** What the A2A front answers, read at the edge: only the fields this client uses, and only in the shapes it knows. */
import { z } from 'zod';
import { portcullisError } from '../schemas/errors.ts';
import { OUTPUT_STREAMS } from '../schemas/keys.ts';
import { RESULT_ARTIFACT, VERIFY_EXTENSION, type TaskMetadata } from '../schemas/verify/a2a.ts';
import { VERIFY_STATUSES, type VerifyResult } from '../schemas/verify/result.ts';
import { TASK_PHASES, type NumberedTaskEvent, type TaskState } from '../schemas/verify/task.ts';

/** Ours, and `rejected`: a request that policy refused. */
export type VerifyTaskState = TaskState | 'rejected';

export interface VerifyTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: VerifyTaskState;
  readonly detail: string;
  readonly metadata: TaskMetadata;
  readonly result: VerifyResult | null;
}

const STATES = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
} as const satisfies Record<string, VerifyTaskState>;

const state = z
  .enum(Object.keys(STATES) as [keyof typeof STATES, ...(keyof typeof STATES)[]])
  .transform((name) => STATES[name]);
const text = z.looseObject({ text: z.string().optional() });
const message = z.looseObject({ parts: z.array(text) }).optional();
const status = z.looseObject({ state, message });

const statusEvent = z.object({
  type: z.literal('status'),
  state: z.enum(['submitted', 'working', 'completed', 'failed', 'canceled']),
  phase: z.enum(TASK_PHASES),
  detail: z.string(),
  outcome: z.enum(VERIFY_STATUSES).nullable(),
});
const outputEvent = z.object({
  type: z.literal('output'),
  stream: z.enum(OUTPUT_STREAMS),
  chunk: z.number(),
  bytes: z.number(),
});
const numbered = z.object({ seq: z.number(), at: z.number(), event: z.union([statusEvent, outputEvent]) });

const taskMetadata = z.looseObject({
  seq: z.number(),
  phase: z.enum(TASK_PHASES),
  detail: z.string(),
  outcome: z.enum(VERIFY_STATUSES).nullable(),
  requestDigest: z.string(),
  pair: z.string(),
  satisfied: z.boolean().nullable(),
  refusal: z.string().optional(),
  events: z.array(numbered).optional(),
  more: z.boolean().optional(),
});

/** The result is the gateway's own record, served as it was persisted; its schema name tells that it is one. */
const result = z.custom<VerifyResult>(
  (value) => Reflect.get(Object(value), 'schema') === 'portcullis/verify-result/v1',
);
const artifact = z.looseObject({
  artifactId: z.string(),
  parts: z.array(z.looseObject({ data: z.unknown().optional() })),
});

const task = z.looseObject({
  id: z.string(),
  contextId: z.string(),
  status,
  artifacts: z.array(artifact).optional(),
  metadata: z.looseObject({ [VERIFY_EXTENSION]: taskMetadata }),
});

const eventMetadata = z.looseObject({
  seq: z.number(),
  at: z.number(),
  phase: z.enum(TASK_PHASES).optional(),
  outcome: z.enum(VERIFY_STATUSES).nullable().optional(),
  chunk: z.number().optional(),
  bytes: z.number().optional(),
});
const extended = z.looseObject({ [VERIFY_EXTENSION]: eventMetadata });

const statusUpdate = z.looseObject({ statusUpdate: z.looseObject({ status, metadata: extended }) });
const artifactUpdate = z.looseObject({
  artifactUpdate: z.looseObject({ artifact, metadata: extended.optional() }),
});

/** @throws `schema_invalid` when the gateway speaks something this client does not know */
export function readTask(value: unknown): VerifyTask {
  return taskOf(read('task', task, value));
}

/** The task of a send. @throws `schema_invalid` */
export function readSent(value: unknown): VerifyTask {
  return taskOf(read('answer', z.looseObject({ task }), value).task);
}

export type Streamed =
  | { readonly kind: 'snapshot'; readonly task: VerifyTask }
  | { readonly kind: 'event'; readonly numbered: NumberedTaskEvent }
  /** Belongs to the event that follows. */
  | { readonly kind: 'result'; readonly result: VerifyResult };

/** One event of a stream; `null` for one that this client has no use for. @throws `schema_invalid`, `json_malformed` */
export function readStreamed(data: string): Streamed | null {
  const value = parseJson(data);
  if (Reflect.has(value, 'task')) return { kind: 'snapshot', task: readSent(value) };
  if (Reflect.has(value, 'statusUpdate')) return statusOf(read('event', statusUpdate, value).statusUpdate);
  return artifactOf(read('event', artifactUpdate, value).artifactUpdate);
}

function parseJson(data: string): object {
  try {
    return Object(JSON.parse(data)) as object;
  } catch (thrown) {
    throw portcullisError('json_malformed', { reason: 'an event is not JSON' }, thrown);
  }
}

function statusOf({ status: said, metadata }: z.infer<typeof statusUpdate>['statusUpdate']): Streamed {
  const { seq, at, phase, outcome } = metadata[VERIFY_EXTENSION];
  const event = { type: 'status', state: said.state, phase, detail: detailOf(said), outcome: outcome ?? null };
  return { kind: 'event', numbered: { seq, at, event: read('event', statusEvent, event) } };
}

function artifactOf(update: z.infer<typeof artifactUpdate>['artifactUpdate']): Streamed | null {
  if (update.artifact.artifactId === RESULT_ARTIFACT) {
    return { kind: 'result', result: read('result', result, update.artifact.parts[0]?.data) };
  }
  if (update.metadata === undefined) return null;
  const { seq, at, chunk, bytes } = update.metadata[VERIFY_EXTENSION];
  const event = { type: 'output', stream: update.artifact.artifactId, chunk, bytes };
  return { kind: 'event', numbered: { seq, at, event: read('event', outputEvent, event) } };
}

function taskOf(value: z.infer<typeof task>): VerifyTask {
  const held = value.artifacts?.find(({ artifactId }) => artifactId === RESULT_ARTIFACT);
  const { refusal, events, more, ...metadata } = value.metadata[VERIFY_EXTENSION];
  return {
    id: value.id,
    contextId: value.contextId,
    state: value.status.state,
    detail: detailOf(value.status),
    metadata: {
      ...metadata,
      ...(refusal === undefined ? {} : { refusal }),
      ...(events === undefined ? {} : { events }),
      ...(more === undefined ? {} : { more }),
    },
    result: held === undefined ? null : read('result', result, held.parts[0]?.data),
  };
}

function detailOf(said: z.infer<typeof status>): string {
  return said.message?.parts.map((part) => part.text ?? '').join(' ') ?? '';
}

function read<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = [what, ...(issue?.path ?? []).map(String)].join('.').slice(0, 200);
  throw portcullisError('schema_invalid', { path, reason: issue?.message ?? 'is not what a gateway answers' });
}
