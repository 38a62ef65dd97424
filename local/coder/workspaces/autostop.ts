/** Stops workspaces whose deadline has passed. It only stops them: deleting is somebody else's. */
import { addBuild, lastBuild } from '../builds/request.ts';
import type { LocalCoderContext } from '../context.ts';

const MINUTE_MS = 60_000;
/** A bump counts once this share of it has been used up, so that a busy agent does not write all the time. */
const BUMP_SHARE = 0.05;

/** The moment of the look is cut to the minute, as there: a stop comes up to a minute late. */
export function autostop(coder: LocalCoderContext): void {
  const now = Math.floor(coder.clock.now().getTime() / MINUTE_MS) * MINUTE_MS;
  for (const workspace of coder.state.workspaces.all()) {
    if (workspace.deleted) continue;
    const build = lastBuild(coder, workspace);
    if (build.transition !== 'start' || build.job.status !== 'succeeded' || build.deadline === null) continue;
    if (Date.parse(build.deadline) >= now) continue;
    addBuild(coder, workspace, {
      transition: 'stop',
      initiatorId: workspace.ownerId,
      versionId: build.versionId,
      parameters: build.parameters,
      reason: 'autostop',
      orphan: false,
      onSuccess: null,
    });
  }
}

/** Activity of an agent moves the deadline by the template's bump, never back. */
export function bump(coder: LocalCoderContext, workspaceId: string): void {
  const { state, clock } = coder;
  const workspace = state.workspaces.get(workspaceId);
  const bumpMs = state.templates.get(workspace?.templateId ?? '')?.activityBumpMs ?? 0;
  if (workspace === undefined || bumpMs === 0) return;
  const build = lastBuild(coder, workspace);
  if (build.transition !== 'start' || build.job.status !== 'succeeded' || build.deadline === null) return;
  const deadline = clock.now().getTime() + bumpMs;
  if (deadline < Date.parse(build.deadline) + bumpMs * BUMP_SHARE) return;
  state.builds.put({ ...build, deadline: new Date(deadline).toISOString() });
}
