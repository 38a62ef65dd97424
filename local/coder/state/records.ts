/** What the local Coder remembers. One schema a noun; a record is replaced whole, never changed in place. */
import { z } from 'zod';

/** ISO time. */
const time = z.string();

export const userRecord = z.object({
  id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  createdAt: time,
  lastSeenAt: time.nullable(),
  status: z.enum(['active', 'dormant']),
  /** Of the password; null for a user that has none and comes by token. */
  passwordDigest: z.string().nullable(),
  /** Site roles, which `users/me` shows, and roles in the one organization, which it does not. */
  siteRoles: z.array(z.enum(['owner', 'template-admin', 'auditor'])),
  organizationRoles: z.array(z.enum(['agents-access'])),
});
export type User = Readonly<z.infer<typeof userRecord>>;

export const tokenRecord = z.object({
  /** The part before the hyphen. */
  id: z.string(),
  userId: z.string(),
  /** Empty for a session. */
  name: z.string(),
  secretDigest: z.string(),
  scopes: z.array(z.string()),
  createdAt: time,
  expiresAt: time,
});
export type Token = Readonly<z.infer<typeof tokenRecord>>;

export const parameterRecord = z.object({
  name: z.string(),
  type: z.enum(['string', 'number', 'bool']),
  formType: z.enum(['input', 'radio']),
  mutable: z.boolean(),
  required: z.boolean(),
  defaultValue: z.string(),
  options: z.array(z.string()),
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type Parameter = Readonly<z.infer<typeof parameterRecord>>;

export const fileRecord = z.object({ id: z.string(), hash: z.string(), parameters: z.array(parameterRecord) });
export type StoredFile = Readonly<z.infer<typeof fileRecord>>;

/** What happens to a job; a template import has one too. */
export const jobRecord = z.object({
  id: z.string(),
  createdAt: time,
  startedAt: time.nullable(),
  completedAt: time.nullable(),
  canceledAt: time.nullable(),
  status: z.enum(['pending', 'running', 'canceling', 'succeeded', 'failed', 'canceled']),
  error: z.string().nullable(),
  workerId: z.string().nullable(),
  fileId: z.string(),
});
export type Job = Readonly<z.infer<typeof jobRecord>>;

export const versionRecord = z.object({
  id: z.string(),
  templateId: z.string().nullable(),
  name: z.string(),
  createdAt: time,
  updatedAt: time,
  createdBy: z.string(),
  parameters: z.array(parameterRecord),
  job: jobRecord,
});
export type TemplateVersion = Readonly<z.infer<typeof versionRecord>>;

export const templateRecord = z.object({
  id: z.string(),
  name: z.string(),
  displayName: z.string(),
  description: z.string(),
  createdAt: time,
  updatedAt: time,
  createdBy: z.string(),
  activeVersionId: z.string(),
  defaultTtlMs: z.int(),
  activityBumpMs: z.int(),
  /** Shown only: nothing becomes dormant here. */
  timeTilDormantMs: z.int().default(0),
  userMayCancel: z.boolean(),
});
export type Template = Readonly<z.infer<typeof templateRecord>>;

export const workspaceRecord = z.object({
  id: z.string(),
  ownerId: z.string(),
  name: z.string(),
  templateId: z.string(),
  createdAt: time,
  updatedAt: time,
  lastUsedAt: time,
  ttlMs: z.int().nullable(),
  automaticUpdates: z.enum(['always', 'never']),
  autostartSchedule: z.string().nullable(),
  dormantAt: time.nullable(),
  deleted: z.boolean(),
  /** Its last build. */
  buildId: z.string(),
  /** Whether the last apply's outcome was saved: without, a delete has nothing to destroy and compute leaks. */
  hasResources: z.boolean(),
  /** What made its builds fail was mended from outside: the faults of its parameters no longer apply. */
  repaired: z.boolean(),
});
export type Workspace = Readonly<z.infer<typeof workspaceRecord>>;

export const valueRecord = z.object({ name: z.string(), value: z.string() });

export const buildRecord = z.object({
  id: z.string(),
  workspaceId: z.string(),
  number: z.int(),
  transition: z.enum(['start', 'stop', 'delete']),
  createdAt: time,
  updatedAt: time,
  initiatorId: z.string(),
  versionId: z.string(),
  reason: z.string(),
  deadline: time.nullable(),
  parameters: z.array(valueRecord),
  orphan: z.boolean(),
  /** Transition that follows when this one succeeds: a restart. */
  onSuccess: z.enum(['start']).nullable(),
  job: jobRecord,
});
export type Build = Readonly<z.infer<typeof buildRecord>>;

export const agentRecord = z.object({
  id: z.string(),
  buildId: z.string(),
  workspaceId: z.string(),
  resourceId: z.string(),
  scriptId: z.string(),
  logSourceId: z.string(),
  createdAt: time,
  updatedAt: time,
  firstConnectedAt: time.nullable(),
  disconnectedAt: time.nullable(),
  startedAt: time.nullable(),
  readyAt: time.nullable(),
  lifecycle: z.enum([
    'created',
    'starting',
    'start_timeout',
    'start_error',
    'ready',
    'shutting_down',
    'shutdown_timeout',
    'shutdown_error',
    'off',
  ]),
  connectionTimeoutSecs: z.int(),
  startExit: z.int().nullable(),
  logsLength: z.int(),
});
export type Agent = Readonly<z.infer<typeof agentRecord>>;

export const providerRecord = z.object({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  displayName: z.string(),
  baseUrl: z.string(),
  keys: z.array(z.object({ id: z.string(), masked: z.string(), createdAt: time })),
  enabled: z.boolean(),
  /** One refused key takes the provider out until it is updated. */
  keysRefused: z.boolean(),
  createdAt: time,
  updatedAt: time,
});
export type Provider = Readonly<z.infer<typeof providerRecord>>;

export const modelRecord = z.object({
  id: z.string(),
  providerId: z.string(),
  model: z.string(),
  displayName: z.string(),
  enabled: z.boolean(),
  isDefault: z.boolean(),
  contextLimit: z.int(),
  createdAt: time,
  updatedAt: time,
});
export type ModelConfig = Readonly<z.infer<typeof modelRecord>>;

const failureRecord = z.object({
  message: z.string(),
  detail: z.string(),
  kind: z.string(),
  provider: z.string(),
  retryable: z.boolean(),
  statusCode: z.int().nullable(),
});

export const chatRecord = z.object({
  id: z.string(),
  ownerId: z.string(),
  workspaceId: z.string().nullable(),
  /** Of the workspace when a turn last used it. */
  bound: z.object({ buildId: z.string(), agentId: z.string(), at: time }).nullable(),
  /** Whether it had a workspace's context before it was bound to another. */
  hadContext: z.boolean(),
  modelConfigId: z.string(),
  title: z.string(),
  status: z.enum(['waiting', 'running', 'error', 'interrupting']),
  lastError: failureRecord.nullable(),
  lastTurnSummary: z.string().nullable(),
  archived: z.boolean(),
  labels: z.record(z.string(), z.string()),
  queue: z.array(z.object({ id: z.int(), text: z.string(), createdAt: time })),
  createdAt: time,
  updatedAt: time,
});
export type Chat = Readonly<z.infer<typeof chatRecord>>;

export const messageRecord = z.object({
  id: z.string(),
  number: z.int(),
  chatId: z.string(),
  createdBy: z.string().nullable(),
  modelConfigId: z.string(),
  createdAt: time,
  role: z.enum(['user', 'assistant', 'tool']),
  part: z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('tool-call'), callId: z.string(), command: z.string() }),
    z.object({
      type: z.literal('tool-result'),
      callId: z.string(),
      output: z.string(),
      exitCode: z.int(),
      /** Text of what kept the tool from running; null when it ran. */
      error: z.string().nullable(),
    }),
  ]),
});
export type Message = Readonly<z.infer<typeof messageRecord>>;

export const auditRecord = z.object({
  id: z.string(),
  time,
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  userId: z.string(),
});
export type AuditEntry = Readonly<z.infer<typeof auditRecord>>;

export const metaRecord = z.object({ id: z.string(), value: z.string() });

export const logRecord = z.object({
  id: z.int(),
  at: time,
  source: z.enum(['provisioner_daemon', 'provisioner', 'agent']),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  stage: z.string(),
  text: z.string(),
});
export type LogRecord = Readonly<z.infer<typeof logRecord>>;
