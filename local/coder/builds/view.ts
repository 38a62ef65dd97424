/** A build as the API shows one. Fields are absent, not null, until they apply: those that are null were seen null. */
import { agentView } from '../agents/view.ts';
import type { LocalCoderContext } from '../context.ts';
import type { Build, Job } from '../state/records.ts';
import { buildStatus } from './status.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';

export function jobView(
  coder: LocalCoderContext,
  job: Job,
  about: {
    readonly type: 'workspace_build' | 'template_version_import';
    readonly input: Readonly<Record<string, string>>;
    readonly initiatorId: string;
  },
) {
  const { position, size } = coder.queue.position(job.id);
  return {
    id: job.id,
    created_at: job.createdAt,
    ...(job.startedAt === null ? {} : { started_at: job.startedAt }),
    ...(job.completedAt === null ? {} : { completed_at: job.completedAt }),
    ...(job.canceledAt === null ? {} : { canceled_at: job.canceledAt }),
    ...(job.error === null ? {} : { error: job.error }),
    status: job.status,
    ...(job.workerId === null ? {} : { worker_id: job.workerId }),
    file_id: job.fileId,
    tags: { owner: '', scope: 'organization' },
    queue_position: position,
    queue_size: size,
    organization_id: coder.state.organizationId,
    initiator_id: about.initiatorId,
    input: about.input,
    type: about.type,
    metadata: {
      template_version_name: '',
      template_id: NO_ID,
      template_name: '',
      template_display_name: '',
      template_icon: '',
    },
    logs_overflowed: false,
  };
}

/**
 * `asked`: the answer to the request for it, which names the provisioners that could take it and not yet the version;
 * later reads do the opposite.
 */
export function buildView(coder: LocalCoderContext, build: Build, asked = false) {
  const { state } = coder;
  const workspace = state.workspaces.get(build.workspaceId);
  const succeeded = build.job.status === 'succeeded';
  return {
    id: build.id,
    created_at: build.createdAt,
    updated_at: build.updatedAt,
    workspace_id: build.workspaceId,
    workspace_name: workspace?.name ?? '',
    workspace_owner_id: workspace?.ownerId ?? '',
    workspace_owner_name: nameOf(coder, workspace?.ownerId),
    template_version_id: build.versionId,
    template_version_name: asked ? '' : (state.versions.get(build.versionId)?.name ?? ''),
    build_number: build.number,
    transition: build.transition,
    initiator_id: build.initiatorId,
    initiator_name: nameOf(coder, build.initiatorId),
    job: jobView(coder, build.job, {
      type: 'workspace_build',
      input: { workspace_build_id: build.id },
      initiatorId: build.initiatorId,
    }),
    reason: build.reason,
    resources: resourcesView(coder, build),
    deadline: build.deadline,
    max_deadline: null,
    status: buildStatus(build),
    daily_cost: 0,
    matched_provisioners: asked ? matched(coder) : { count: 0, available: 0, most_recently_seen: null },
    template_version_preset_id: null,
    ...(succeeded ? { has_ai_task: false, has_external_agent: false } : {}),
  };
}

export function matched(coder: LocalCoderContext) {
  const count = coder.settings.provisioners;
  return { count, available: count, most_recently_seen: coder.clock.iso() };
}

/** A start that succeeded has its compute with the agent; nothing else has any. */
function resourcesView(coder: LocalCoderContext, build: Build) {
  if (build.transition !== 'start' || build.job.status !== 'succeeded') return [];
  return coder.state.agents.of(build.id).map((agent) => ({
    id: agent.resourceId,
    created_at: agent.createdAt,
    job_id: build.job.id,
    workspace_transition: 'start',
    type: 'terraform_data',
    name: 'compute',
    hide: false,
    icon: '',
    agents: [agentView(coder, agent)],
    metadata: build.parameters
      .filter(({ name }) => name === 'ticket' || name === 'portcullis_run')
      .map(({ name, value }) => ({ key: name, value, sensitive: false })),
    daily_cost: 0,
  }));
}

function nameOf({ state }: LocalCoderContext, id: string | undefined): string {
  return id === undefined ? '' : (state.users.get(id)?.username ?? '');
}
