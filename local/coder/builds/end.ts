/** What the end of a build's job changes: the job, the workspace, its deadline, and the build that was to follow. */
import { connectLimits } from '../agents/agents.ts';
import type { LocalCoderContext } from '../context.ts';
import type { BuildOutcome } from '../runtime.ts';
import type { Build, Workspace } from '../state/records.ts';
import { addBuild } from './request.ts';

export function ended(coder: LocalCoderContext, buildId: string, outcome: BuildOutcome): void {
  const { state, clock, changes } = coder;
  const build = state.builds.get(buildId);
  const workspace = build === undefined ? undefined : state.workspaces.get(build.workspaceId);
  if (build === undefined || workspace === undefined) return;
  const at = clock.iso();
  const succeeded = outcome.outcome === 'succeeded';
  const job = {
    ...build.job,
    status: outcome.outcome,
    completedAt: at,
    error: outcome.outcome === 'failed' ? outcome.error : null,
  };
  const done: Build = { ...build, updatedAt: at, job, deadline: succeeded ? deadlineOf(workspace, at) : null };
  state.builds.put(done);
  if (succeeded) {
    const isDelete = build.transition === 'delete';
    state.workspaces.put({
      ...workspace,
      hasResources: build.transition === 'start',
      deleted: workspace.deleted || isDelete,
    });
    if (build.transition === 'start') connectLimits(coder, done);
  }
  changes.say(workspace.id);
  if (succeeded && build.onSuccess !== null) {
    addBuild(coder, workspace, {
      transition: build.onSuccess,
      initiatorId: build.initiatorId,
      versionId: build.versionId,
      parameters: build.parameters,
      reason: 'initiator',
      orphan: false,
      onSuccess: null,
    });
  }
}

/** Counted from the end of the build, and fixed there. A stop build carries one too. */
function deadlineOf({ ttlMs }: Workspace, at: string): string | null {
  return ttlMs === null ? null : new Date(Date.parse(at) + ttlMs).toISOString();
}
