/** Stored records of workspaces: projection, events, recoveries, incidents, slots. */
import { z } from 'zod';
import {
  WORKSPACE_PHASES,
  WORKSPACE_STATES,
  type IncidentRecord,
  type LifecycleDraft,
  type RecoveryRecord,
  type WorkspaceRecord,
} from '../../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../../schemas/workspace/slots.ts';
import { TEARDOWN_TRIGGERS, WORKSPACE_ROLES } from '../../../schemas/workspace/workflow.ts';
import { count } from './fields.ts';

const workspaceRole = z.enum(WORKSPACE_ROLES);
const trigger = z.enum(TEARDOWN_TRIGGERS);

export const workspaceRecord: z.ZodType<WorkspaceRecord> = z.strictObject({
  schema: z.literal('portcullis/workspace/v1'),
  id: z.string(),
  run: z.string(),
  tenant: z.string(),
  ticket: z.string(),
  role: workspaceRole,
  workspaceGeneration: count,
  execution: z.strictObject({ id: z.string(), generation: count }),
  purpose: z.string(),
  owner: z.string(),
  state: z.enum(WORKSPACE_STATES),
  phase: z.enum(WORKSPACE_PHASES),
  waitingOn: z.string(),
  detail: z.string(),
  coderWorkspaceId: z.string().nullable(),
  credentials: z.array(z.string()),
  startedAt: count,
  readyAt: count.nullable(),
  deadline: count.nullable(),
  latestDeadline: count.nullable(),
  trigger: trigger.nullable(),
  endedAt: count.nullable(),
});

export const lifecycleDraft: z.ZodType<LifecycleDraft> = z.strictObject({
  ticket: z.string(),
  role: workspaceRole.nullable(),
  workspace: z.string(),
  generation: count,
  phase: z.string(),
  outcome: z.string(),
  trigger: trigger.exactOptional(),
  detail: z.string(),
});

export const recoveryRecord: z.ZodType<RecoveryRecord> = z.strictObject({
  schema: z.literal('portcullis/recovery/v1'),
  run: z.string(),
  kind: z.enum(['teardown_failed', 'orphan', 'stale', 'stray']),
  ticket: z.string(),
  workspace: z.string(),
  attempts: count,
  reason: z.string(),
  openedAt: count,
});

export const incidentRecord: z.ZodType<IncidentRecord> = z.strictObject({
  schema: z.literal('portcullis/incident/v1'),
  kind: z.enum(['workspace', 'landing']).exactOptional(),
  id: z.string(),
  run: z.string(),
  ticket: z.string(),
  role: workspaceRole.nullable(),
  coderWorkspaceId: z.string().nullable(),
  state: z.enum(['open', 'gone', 'orphaned', 'closed']),
  attempts: count,
  reason: z.string(),
  openedAt: count,
  closedAt: count.nullable(),
  ruling: z.strictObject({ ruling: z.string(), by: z.string(), reason: z.string() }).nullable(),
});

const seat = { holder: z.string(), since: count };

export const slotsRecord: z.ZodType<SlotsView> = z.strictObject({
  schema: z.literal('portcullis/slots/v1'),
  role: workspaceRole,
  capacity: count,
  holders: z.array(
    z.strictObject({ ...seat, state: z.enum(['leased', 'working', 'suspended']), recorded: z.boolean() }),
  ),
  waiting: z.array(z.strictObject(seat)),
  quarantined: z.array(z.strictObject(seat)),
  idle: count,
  stopped: z.boolean(),
});

/** Runs by what was seen of them. */
export const suspectsRecord: z.ZodType<readonly string[]> = z.array(z.string());
