/** A workspace as the API shows one. */
import { agentHealth } from '../agents/view.ts';
import { lastBuild } from '../builds/request.ts';
import { buildView } from '../builds/view.ts';
import type { LocalCoderContext } from '../context.ts';
import { ORGANIZATION } from '../organizations.ts';
import type { Workspace } from '../state/records.ts';

/** `asked`: the answer to its creation. */
export function workspaceView(coder: LocalCoderContext, workspace: Workspace, asked = false) {
  const { state } = coder;
  const build = lastBuild(coder, workspace);
  const template = state.templates.get(workspace.templateId);
  return {
    id: workspace.id,
    created_at: workspace.createdAt,
    updated_at: workspace.updatedAt,
    owner_id: workspace.ownerId,
    owner_name: state.users.get(workspace.ownerId)?.username ?? '',
    owner_avatar_url: '',
    organization_id: state.organizationId,
    organization_name: ORGANIZATION.name,
    template_id: workspace.templateId,
    template_name: template?.name ?? '',
    template_display_name: template?.displayName ?? '',
    template_icon: '',
    template_allow_user_cancel_workspace_jobs: template?.userMayCancel ?? false,
    template_active_version_id: template?.activeVersionId ?? '',
    template_require_active_version: false,
    template_use_classic_parameter_flow: false,
    latest_build: buildView(coder, build, asked),
    latest_app_status: null,
    outdated: template?.activeVersionId !== build.versionId,
    name: workspace.name,
    ...(workspace.autostartSchedule === null ? {} : { autostart_schedule: workspace.autostartSchedule }),
    ...(workspace.ttlMs === null ? {} : { ttl_ms: workspace.ttlMs }),
    last_used_at: workspace.lastUsedAt,
    deleting_at: null,
    dormant_at: workspace.dormantAt,
    health: health(coder, workspace),
    automatic_updates: workspace.automaticUpdates,
    allow_renames: false,
    favorite: false,
    next_start_at: null,
    is_prebuild: false,
    task_id: null,
  };
}

/** Healthy while there is no agent that is not: a workspace that is only being built is. */
function health(coder: LocalCoderContext, workspace: Workspace) {
  const build = lastBuild(coder, workspace);
  const agents =
    build.transition === 'start' && build.job.status === 'succeeded' ? coder.state.agents.of(build.id) : [];
  const failing = agents.filter((agent) => !agentHealth(coder, agent).healthy).map(({ id }) => id);
  return { healthy: failing.length === 0, failing_agents: failing };
}
