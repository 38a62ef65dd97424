/** The first rung of a teardown: from here on nothing in the workspace can act, however long the rest takes. */
import { PortcullisError } from '../../schemas/errors.ts';
import type { WorkspaceRef } from '../../schemas/workspace/activities.ts';
import { claimCode, claimNames, type WorkspaceUse } from './claims.ts';
import type { WorkspaceDependencies } from './dependencies.ts';

const USES: readonly WorkspaceUse[] = ['executor', 'agent'];

/** What was recorded, and what the run would have: the ids come from its codes, so none is forgotten. */
export async function refuseWorkspaceCredentials(
  needs: WorkspaceDependencies,
  { tenant, run }: WorkspaceRef,
  recorded: readonly string[],
): Promise<void> {
  const made = USES.map((use) => claimNames(claimCode(needs.claimKey, run, use)).credentialId);
  for (const id of new Set([...recorded, ...made])) await revokeIfThere(needs, tenant, id);
}

/** One that was never written cannot be used either. */
async function revokeIfThere(needs: WorkspaceDependencies, tenant: string, id: string): Promise<void> {
  try {
    await needs.store.retireCredential(tenant, id);
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError) || thrown.code !== 'not_found') throw thrown;
  }
}
