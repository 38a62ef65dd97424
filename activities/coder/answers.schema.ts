/** What is read of the server's answers, and the plain types it becomes. Fields that are not named may be anything. */
import { z } from 'zod';
import type { AgentState, BuildState } from '../../schemas/coder/build.ts';
import type { CoderServer, TemplateParameter, TemplateState } from '../../schemas/coder/template.ts';
import type { LogLine, ParameterValue, WorkspaceState } from '../../schemas/coder/workspace.ts';

const agent = z
  .object({
    id: z.string(),
    name: z.string(),
    parent_id: z.string().nullable(),
    status: z.enum(['connecting', 'connected', 'disconnected', 'timeout']),
    lifecycle_state: z.enum([
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
  })
  .transform(({ id, name, parent_id, status, lifecycle_state }): AgentState => ({
    id,
    name,
    parentId: parent_id,
    status,
    lifecycle: lifecycle_state,
  }));

/** Optional fields are absent, not null, until they apply; a resource without agents has no list. */
export const buildAnswer = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    build_number: z.int(),
    transition: z.enum(['start', 'stop', 'delete']),
    job: z.object({
      status: z.enum(['pending', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'unknown']),
      error: z.string().default(''),
      error_code: z.string().default(''),
      queue_position: z.int(),
      queue_size: z.int(),
    }),
    reason: z.string(),
    template_version_id: z.string(),
    deadline: z.string().nullable(),
    matched_provisioners: z.object({ available: z.int() }).nullish(),
    resources: z.array(z.object({ agents: z.array(agent).nullish() })).nullable(),
  })
  .transform((build): BuildState => ({
    id: build.id,
    workspaceId: build.workspace_id,
    number: build.build_number,
    transition: build.transition,
    job: build.job.status,
    jobError: build.job.error,
    jobErrorCode: build.job.error_code,
    reason: build.reason,
    templateVersionId: build.template_version_id,
    deadline: build.deadline,
    queuePosition: build.job.queue_position,
    queueSize: build.job.queue_size,
    provisionersAvailable: build.matched_provisioners?.available ?? 0,
    agents: (build.resources ?? []).flatMap((resource) => resource.agents ?? []),
  }));

export const workspaceAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    owner_id: z.string(),
    owner_name: z.string(),
    organization_id: z.string(),
    template_id: z.string(),
    template_name: z.string().default(''),
    ttl_ms: z.int().nullish(),
    dormant_at: z.string().nullish(),
    latest_build: buildAnswer,
  })
  .transform((workspace): WorkspaceState => ({
    id: workspace.id,
    name: workspace.name,
    ownerId: workspace.owner_id,
    ownerName: workspace.owner_name,
    organizationId: workspace.organization_id,
    templateId: workspace.template_id,
    templateName: workspace.template_name,
    ttlMs: workspace.ttl_ms ?? null,
    dormant: (workspace.dormant_at ?? null) !== null,
    build: workspace.latest_build,
  }));

export const workspacePageAnswer = z.object({ workspaces: z.array(workspaceAnswer), count: z.int() });

export const parameterValuesAnswer: z.ZodType<readonly ParameterValue[]> = z.array(
  z.object({ name: z.string(), value: z.string() }),
);

export const templateAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    organization_id: z.string(),
    active_version_id: z.string(),
    deprecated: z.boolean(),
    deleted: z.boolean().default(false),
    default_ttl_ms: z.int(),
    activity_bump_ms: z.int(),
    failure_ttl_ms: z.int(),
    time_til_dormant_ms: z.int(),
    allow_user_cancel_workspace_jobs: z.boolean(),
  })
  .transform((template): TemplateState => ({
    id: template.id,
    name: template.name,
    organizationId: template.organization_id,
    activeVersionId: template.active_version_id,
    deprecated: template.deprecated,
    deleted: template.deleted,
    defaultTtlMs: template.default_ttl_ms,
    activityBumpMs: template.activity_bump_ms,
    failureTtlMs: template.failure_ttl_ms,
    timeTilDormantMs: template.time_til_dormant_ms,
    userMayCancel: template.allow_user_cancel_workspace_jobs,
  }));

export const templateParametersAnswer = z.array(
  z
    .object({
      name: z.string(),
      type: z.string(),
      required: z.boolean(),
      mutable: z.boolean(),
      default_value: z.string(),
      options: z.array(z.object({ value: z.string() })).nullable(),
    })
    .transform((parameter): TemplateParameter => ({
      name: parameter.name,
      type: parameter.type,
      required: parameter.required,
      mutable: parameter.mutable,
      defaultValue: parameter.default_value,
      options: (parameter.options ?? []).map(({ value }) => value),
    })),
);

export const serverAnswer = z
  .object({ version: z.string(), deployment_id: z.string() })
  .transform(({ version, deployment_id }): CoderServer => ({ version, deploymentId: deployment_id }));

export const buildLogsAnswer = z.array(
  z
    .object({
      id: z.int(),
      created_at: z.string(),
      log_level: z.string(),
      stage: z.string(),
      output: z.string(),
    })
    .transform((line): LogLine => ({
      id: line.id,
      at: line.created_at,
      level: line.log_level,
      stage: line.stage,
      text: line.output,
    })),
);

export const agentLogsAnswer = z.array(
  z
    .object({ id: z.int(), created_at: z.string(), level: z.string(), output: z.string() })
    .transform((line): LogLine => ({
      id: line.id,
      at: line.created_at,
      level: line.level,
      stage: '',
      text: line.output,
    })),
);

/** For calls whose answer says nothing worth reading. */
export const anyAnswer = z.unknown();
