/** Creating a workspace: what is refused, in which order, and the race for its name that all but one lose with a 500. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { addBuild } from '../builds/request.ts';
import type { LocalCoderContext } from '../context.ts';
import { apiFault } from './api-fault.ts';
import type { Asker } from '../http/asker.ts';
import { duplicateKey, nameTaken, notFound, refuse, refuseFields, refuseTag } from '../http/refusal.ts';
import { bodyId } from '../http/request.ts';
import type { Template, TemplateVersion, User, Workspace } from '../state/records.ts';
import { resolveParameters } from '../templates/parameters.ts';
import { checkTtl } from './ttl.ts';

export const createRequest = z.object({
  name: z.string().default(''),
  template_id: bodyId.nullish(),
  template_version_id: bodyId.nullish(),
  rich_parameter_values: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  ttl_ms: z.int().nullish(),
  automatic_updates: z.string().nullish(),
  autostart_schedule: z.string().nullish(),
});
export type CreateRequest = z.infer<typeof createRequest>;

const NAME = /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/;
const RESERVED = ['new', 'create'];
const NO_ID = '00000000-0000-0000-0000-000000000000';

export async function createWorkspace(
  coder: LocalCoderContext,
  asker: Asker,
  owner: User,
  request: CreateRequest,
): Promise<Workspace> {
  const { state, clock, settings } = coder;
  checkShape(request);
  checkRights(asker, owner);
  const { template, version } = templateOf(coder, request);
  if (version.job.status !== 'succeeded') {
    throw refuse(406, 'Template version is still being imported.', `Template import job is ${version.job.status}.`);
  }
  const { name } = request;
  const automaticUpdates = updatesOf(request);
  const schedule = scheduleOf(request);
  const ttlMs =
    checkTtl(request.ttl_ms ?? null, 'Invalid Workspace Time to Shutdown.') ?? (template.defaultTtlMs || null);
  if (named(coder, owner, name) !== undefined) throw nameTaken(`Workspace "${name}" already exists.`);
  const parameters = resolveParameters(version.parameters, request.rich_parameter_values ?? [], []);
  const fault = apiFault(coder, owner, name, parameters);
  fault.before();
  await clock.sleep(settings.checkMs);
  if (named(coder, owner, name) !== undefined) {
    const constraint = duplicateKey('workspaces_owner_id_lower_idx');
    throw refuse(500, 'Internal server error', `execute transaction: insert workspace: ${constraint}`);
  }
  const at = clock.iso();
  const workspace: Workspace = {
    id: randomUUID(),
    ownerId: owner.id,
    name,
    templateId: template.id,
    createdAt: at,
    updatedAt: at,
    lastUsedAt: at,
    ttlMs,
    automaticUpdates,
    autostartSchedule: schedule,
    dormantAt: null,
    deleted: false,
    buildId: '',
    hasResources: false,
    repaired: false,
  };
  addBuild(coder, workspace, {
    transition: 'start',
    initiatorId: asker.user.id,
    versionId: version.id,
    parameters,
    reason: 'initiator',
    orphan: false,
    onSuccess: null,
  });
  fault.after();
  return state.workspaces.get(workspace.id) ?? workspace;
}

/** The one that holds the name; a deleted one holds none. */
export function named({ state }: LocalCoderContext, owner: User, name: string): Workspace | undefined {
  const wanted = name.toLowerCase();
  return state.workspaces.of(owner.id).find((one) => !one.deleted && one.name.toLowerCase() === wanted);
}

function checkShape({ name, template_id: template, template_version_id: version }: CreateRequest): void {
  if (name.length < 1 || name.length > 32 || !NAME.test(name) || RESERVED.includes(name)) {
    throw refuseTag(['name', 'workspace_name', name]);
  }
  const given = [template ?? null, version ?? null].filter((id) => id !== null).length;
  if (given === 1) return;
  const tag = given === 0 ? 'required_without' : 'excluded_with';
  throw refuseTag(['template_id', tag, template ?? NO_ID], ['template_version_id', tag, version ?? NO_ID]);
}

function checkRights(asker: Asker, owner: User): void {
  // A token that may not create does not see where to.
  if (!asker.covers('workspace:create')) throw notFound();
  if (owner.id === asker.user.id || asker.isOwner) return;
  const detail =
    'You are unable to create a workspace in this organization. It is possible to have access to the template, but not be able to create a workspace. Please contact an administrator about your permissions if you feel this is an error.';
  throw refuse(403, 'Unauthorized to create workspace.', detail);
}

function templateOf(
  { state }: LocalCoderContext,
  request: CreateRequest,
): { readonly template: Template; readonly version: TemplateVersion } {
  const missing = (what: string, id: string, field: string) =>
    refuseFields(`${what} "${id}" doesn't exist.`, [{ field, detail: 'template not found' }]);
  const versionId = request.template_version_id ?? null;
  if (versionId !== null) {
    const version = state.versions.get(versionId);
    const template = state.templates.get(version?.templateId ?? '');
    if (version === undefined || template === undefined)
      throw missing('Template version', versionId, 'template_version_id');
    return { template, version };
  }
  const id = request.template_id ?? '';
  const template = state.templates.get(id);
  const version = state.versions.get(template?.activeVersionId ?? '');
  if (template === undefined || version === undefined) throw missing('Template', id, 'template_id');
  return { template, version };
}

function updatesOf({ automatic_updates: updates }: CreateRequest): Workspace['automaticUpdates'] {
  const value = updates ?? 'never';
  if (value === '' || value === 'never') return 'never';
  if (value === 'always') return 'always';
  throw refuseFields('Invalid Workspace Automatic Updates setting.', [
    { field: 'automatic_updates', detail: 'Automatic updates must be always or never' },
  ]);
}

function scheduleOf({ autostart_schedule: schedule }: CreateRequest): string | null {
  if ((schedule ?? '') === '') return null;
  const text = (schedule ?? '').replace(/^CRON_TZ=\S+\s+/, '');
  if (text.split(/\s+/).length === 5) return schedule ?? null;
  const detail =
    'validate weekly schedule: expected schedule to consist of 5 fields with an optional CRON_TZ=<timezone> prefix';
  throw refuseFields('Invalid Autostart Schedule.', [{ field: 'schedule', detail }]);
}
