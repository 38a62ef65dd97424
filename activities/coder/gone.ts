/** The proof that a workspace is gone: its delete job succeeded and the server answers 410 by id. Neither alone will do. */
import { hasEnded, type BuildState } from '../../schemas/coder/build.ts';
import type { GoneProof } from '../../schemas/coder/workspace.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { readBuild, readById, readLast } from './reads.ts';

export async function isGone(
  client: CoderClient,
  workspaceId: string,
  deleteBuildId: string | undefined,
  call: CallOptions = {},
): Promise<GoneProof> {
  const build = await deleteBuild(client, workspaceId, deleteBuildId, call);
  if (build === null) return { gone: false, because: 'unseen' };
  if (build.workspaceId !== workspaceId || build.transition !== 'delete') {
    return { gone: false, because: 'delete_not_asked' };
  }
  if (!hasEnded(build.job)) return { gone: false, because: 'delete_active' };
  if (build.job !== 'succeeded') return { gone: false, because: 'delete_failed' };
  const reading = await readById(client, workspaceId, call);
  switch (reading.seen) {
    case 'deleted':
      return { gone: true };
    case 'present':
      return { gone: false, because: 'still_present' };
    case 'unseen':
      return { gone: false, because: 'unseen' };
  }
}

async function deleteBuild(
  client: CoderClient,
  workspaceId: string,
  buildId: string | undefined,
  call: CallOptions,
): Promise<BuildState | null> {
  if (buildId !== undefined) return readBuild(client, buildId, call);
  return (await readLast(client, workspaceId, call))?.build ?? null;
}
