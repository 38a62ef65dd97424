/** Asking for a build: who may, what is refused, and the race for the next build number. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { duplicateKey, forbidden, refuse, refuseFields, refuseTag } from '../http/refusal.ts';
import { bodyId } from '../http/request.ts';
import type { Build, Workspace } from '../state/records.ts';
import { resolveParameters } from '../templates/parameters.ts';
import { isActive } from './status.ts';

export const buildRequest = z.object({
  transition: z.string().default(''),
  orphan: z.boolean().nullish(),
  state: z.array(z.int()).nullish(),
  template_version_id: bodyId.nullish(),
  rich_parameter_values: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  log_level: z.string().nullish(),
  reason: z.string().nullish(),
  on_success: z.object({ transition: z.string() }).nullish(),
});
export type BuildRequest = z.infer<typeof buildRequest>;

const TRANSITIONS = ['start', 'stop', 'delete'] as const;

export async function requestBuild(
  coder: LocalCoderContext,
  asker: Asker,
  workspace: Workspace,
  request: BuildRequest,
): Promise<Build> {
  const transition = checkShape(request);
  if (!asker.covers(`workspace:${transition}`)) {
    throw forbidden(`You do not have permission to ${transition} this workspace.`);
  }
  checkRights(asker, request);
  checkNotDeleted(workspace, transition);
  const last = lastBuild(coder, workspace);
  if (isActive(last.job)) throw buildActive();
  const versionId = request.template_version_id ?? last.versionId;
  const version = coder.state.versions.get(versionId);
  if (version === undefined) {
    const detail = 'template version not found';
    throw refuseFields('Template version not found.', [{ field: 'template_version_id', detail }]);
  }
  const parameters = resolveParameters(version.parameters, request.rich_parameter_values ?? [], last.parameters);
  const number = last.number + 1;
  await coder.clock.sleep(coder.settings.checkMs);
  const now = coder.state.workspaces.get(workspace.id) ?? workspace;
  if (lastBuild(coder, now).number >= number) {
    throw refuse(409, 'insert workspace build', duplicateKey('workspace_builds_workspace_id_build_number_key'));
  }
  return addBuild(coder, now, {
    transition,
    initiatorId: asker.user.id,
    versionId,
    parameters,
    reason: request.reason ?? 'initiator',
    orphan: request.orphan === true,
    onSuccess: request.on_success?.transition === 'start' ? 'start' : null,
  });
}

function checkShape(request: BuildRequest): Build['transition'] {
  const transition = TRANSITIONS.find((one) => one === request.transition);
  if (transition === undefined) throw refuseTag(['transition', 'oneof', request.transition]);
  if (request.orphan === true && transition !== 'delete') {
    throw refuse(400, 'Orphan is only permitted when deleting a workspace.');
  }
  if (request.orphan === true && (request.state ?? []).length > 0) {
    throw refuse(400, 'ProvisionerState cannot be set alongside Orphan since state intent is unclear.');
  }
  if ((request.on_success ?? null) !== null && transition !== 'stop') {
    throw refuse(400, 'OnSuccess is only permitted when stopping a workspace.');
  }
  return transition;
}

function checkRights(asker: Asker, request: BuildRequest): void {
  const custom = request.orphan === true || (request.state ?? []).length > 0;
  if (custom && !asker.managesTemplates) {
    const message = 'Only template managers may provide custom state';
    throw refuse(403, message, message);
  }
  if ((request.log_level ?? '') !== '' && !asker.isOwner) {
    const message = 'Workspace builds with a custom log level are restricted to administrators only.';
    throw refuse(400, message, message);
  }
}

function checkNotDeleted(workspace: Workspace, transition: Build['transition']): void {
  if (!workspace.deleted || transition === 'delete') return;
  throw refuse(
    409,
    `Cannot ${transition} a deleted workspace!`,
    'This workspace has been deleted and cannot be modified.',
  );
}

function buildActive() {
  const message = 'A workspace build is already active.';
  return refuse(409, message, message);
}

export function lastBuild({ state }: LocalCoderContext, workspace: Workspace): Build {
  const build = state.builds.get(workspace.buildId);
  if (build === undefined) throw new Error(`the last build of workspace ${workspace.id} is not in the state`);
  return build;
}

export type NewBuild = Pick<
  Build,
  'transition' | 'initiatorId' | 'versionId' | 'parameters' | 'reason' | 'orphan' | 'onSuccess'
>;

/** The next build of a workspace, pending. A workspace that is being created has none yet. */
export function addBuild(coder: LocalCoderContext, workspace: Workspace, build: NewBuild): Build {
  const { state, clock, queue, changes } = coder;
  const at = clock.iso();
  const added = state.builds.put({
    ...build,
    id: randomUUID(),
    workspaceId: workspace.id,
    number: (state.builds.get(workspace.buildId)?.number ?? 0) + 1,
    createdAt: at,
    updatedAt: at,
    deadline: null,
    job: {
      id: randomUUID(),
      createdAt: at,
      startedAt: null,
      completedAt: null,
      canceledAt: null,
      status: 'pending',
      error: null,
      workerId: null,
      fileId: state.versions.get(build.versionId)?.job.fileId ?? '',
    },
  });
  const current = state.workspaces.get(workspace.id) ?? workspace;
  state.workspaces.put({ ...current, buildId: added.id });
  queue.add(added);
  changes.say(workspace.id);
  return added;
}
