/** The snapshot of a task as it is kept: one text that never changes, and the fields that events fold into. */
import type { TaskEvent, TaskSnapshot } from '../../schemas/verify/task.ts';
import type { EventSource } from './port.ts';
import { readRecord, recordText } from './records/read.ts';
import { taskSnapshotRecord } from './records/task.ts';

/** Fields of the hash, in the order in which they are read. */
export const SNAPSHOT_FIELDS = ['snapshot', 'state', 'phase', 'detail', 'outcome', 'seq', 'updatedAt'] as const;

/** The part that never changes. */
export function fixedText(snapshot: TaskSnapshot): string {
  const { schema, taskId, contextId, tenant, pair, owner, executor, workflowId, requestDigest, createdAt } = snapshot;
  return recordText({
    schema,
    taskId,
    contextId,
    tenant,
    pair,
    owner,
    executor,
    workflowId,
    requestDigest,
    createdAt,
  });
}

/** From the values of {@link SNAPSHOT_FIELDS}; `null` when there is no such task. @throws `record_unreadable` */
export function readSnapshot(values: readonly (string | null)[]): TaskSnapshot | null {
  const [fixed, state, phase, detail, outcome, seq, updatedAt] = values;
  if (fixed === undefined || fixed === null) return null;
  const folded = {
    state,
    phase,
    detail,
    outcome: outcome === '' ? null : outcome,
    seq: Number(seq),
    updatedAt: Number(updatedAt),
  };
  // The fixed text names none of the folded fields, so taking both into one object hides nothing.
  const text = `${fixed.slice(0, -1)},${JSON.stringify(folded).slice(1)}`;
  return readRecord('task', taskSnapshotRecord, text);
}

/** What a script is told about an event. */
export function said(from: EventSource, event: TaskEvent) {
  const status = event.type === 'status' ? event : null;
  return {
    source: from.source,
    offset: from.offset,
    kind: event.type,
    state: status?.state ?? '',
    phase: status?.phase ?? '',
    detail: status?.detail ?? '',
    outcome: status?.outcome ?? '',
    event: recordText(event),
  };
}
