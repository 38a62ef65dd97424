/** Templates: made of a version, found, shown. */
import { randomUUID } from 'node:crypto';
import type { LocalCoderContext } from '../context.ts';
import { ORGANIZATION } from '../organizations.ts';
import type { State } from '../state/state.ts';
import type { Template, User } from '../state/records.ts';

export interface NewTemplate {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly versionId: string;
  readonly defaultTtlMs: number;
  readonly activityBumpMs: number;
  /** 0 when left out. */
  readonly timeTilDormantMs?: number;
  readonly userMayCancel: boolean;
  readonly createdBy: User;
}

export function templateNamed(state: State, name: string): Template | undefined {
  return state.templates.all().find((template) => template.name.toLowerCase() === name.toLowerCase());
}

export function addTemplate(
  { state, clock }: LocalCoderContext,
  { versionId, createdBy, ...rest }: NewTemplate,
): Template {
  const at = clock.iso();
  const id = randomUUID();
  const version = state.versions.get(versionId);
  if (version !== undefined) state.versions.put({ ...version, templateId: id });
  return state.templates.put({
    timeTilDormantMs: 0,
    ...rest,
    id,
    createdAt: at,
    updatedAt: at,
    createdBy: createdBy.id,
    activeVersionId: versionId,
  });
}

const NO_TIMES = { P50: null, P95: null };
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

export function templateView(state: State, template: Template) {
  const using = state.workspaces.all().filter(({ templateId, deleted }) => templateId === template.id && !deleted);
  return {
    id: template.id,
    created_at: template.createdAt,
    updated_at: template.updatedAt,
    organization_id: state.organizationId,
    organization_name: ORGANIZATION.name,
    organization_display_name: ORGANIZATION.displayName,
    organization_icon: '',
    name: template.name,
    display_name: template.displayName,
    provisioner: 'terraform',
    active_version_id: template.activeVersionId,
    active_user_count: new Set(using.map(({ ownerId }) => ownerId)).size,
    build_time_stats: { delete: NO_TIMES, start: NO_TIMES, stop: NO_TIMES },
    description: template.description,
    deprecated: false,
    deprecation_message: '',
    deleted: false,
    icon: '',
    default_ttl_ms: template.defaultTtlMs,
    activity_bump_ms: template.activityBumpMs,
    time_til_autostop_notify_ms: 0,
    autostop_requirement: { days_of_week: [], weeks: 1 },
    autostart_requirement: { days_of_week: DAYS },
    created_by_id: template.createdBy,
    created_by_name: state.users.get(template.createdBy)?.username ?? '',
    allow_user_autostart: true,
    allow_user_autostop: true,
    allow_user_cancel_workspace_jobs: template.userMayCancel,
    failure_ttl_ms: 0,
    time_til_dormant_ms: template.timeTilDormantMs,
    time_til_dormant_autodelete_ms: 0,
    require_active_version: false,
    max_port_share_level: 'public',
    cors_behavior: 'simple',
    use_classic_parameter_flow: false,
    disable_module_cache: false,
  };
}
