/** Whose workspaces one sees: one's own, or all as an owner of the site; and only with a token that may read them. */
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { notFound } from '../http/refusal.ts';
import type { Workspace } from '../state/records.ts';

export function sees(asker: Asker, workspace: Workspace): boolean {
  return (asker.isOwner || workspace.ownerId === asker.user.id) && asker.covers('workspace:read');
}

/** Deleted ones too. @throws 404 for absent and for not visible */
export function visibleWorkspace({ state }: LocalCoderContext, asker: Asker, id: string): Workspace {
  const workspace = state.workspaces.get(id);
  if (workspace === undefined || !sees(asker, workspace)) throw notFound();
  return workspace;
}
