/** `GET /workspaces?q=`: the terms that it knows, and the order of what it finds. */
import { buildStatus } from '../builds/status.ts';
import { lastBuild } from '../builds/request.ts';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { checkSearchKeys, searchTerms } from '../http/request.ts';
import type { Workspace } from '../state/records.ts';
import { sees } from './visible.ts';

const KEYS = ['owner', 'template', 'name', 'status', 'param', 'id', 'dormant', 'organization', 'outdated'] as const;

/** Never deleted ones. @throws 400 naming a key that it does not search by */
export function searchWorkspaces(coder: LocalCoderContext, asker: Asker, q: string): readonly Workspace[] {
  const terms = searchTerms(q);
  checkSearchKeys(terms, KEYS, 'Invalid workspace search query.');
  return coder.state.workspaces
    .all()
    .filter((workspace) => !workspace.deleted && sees(asker, workspace))
    .filter((workspace) => terms.every(([key, value]) => matches(coder, asker, workspace, key, value)))
    .sort((one, other) => rank(coder, one) - rank(coder, other) || (one.name < other.name ? -1 : 1));
}

function matches(coder: LocalCoderContext, asker: Asker, workspace: Workspace, key: string, value: string): boolean {
  const { state } = coder;
  const wanted = value.toLowerCase();
  switch (key) {
    case 'owner':
      return wanted === 'me'
        ? workspace.ownerId === asker.user.id
        : state.users.get(workspace.ownerId)?.username.toLowerCase() === wanted;
    case 'template':
      return state.templates.get(workspace.templateId)?.name.toLowerCase() === wanted;
    case 'name':
      return workspace.name.toLowerCase().includes(wanted);
    case 'status':
      return buildStatus(lastBuild(coder, workspace)) === wanted;
    case 'id':
      return workspace.id === wanted;
    case 'dormant':
      return (workspace.dormantAt !== null) === (wanted === 'true');
    case 'outdated':
      return (
        (state.templates.get(workspace.templateId)?.activeVersionId !== lastBuild(coder, workspace).versionId) ===
        (wanted === 'true')
      );
    case 'param':
      return hasParameter(coder, workspace, wanted);
    default:
      return true;
  }
}

/** `name` alone asks whether it has one; with `=value` also for the value, whatever the case. */
function hasParameter(coder: LocalCoderContext, workspace: Workspace, wanted: string): boolean {
  const at = wanted.indexOf('=');
  const name = at < 0 ? wanted : wanted.slice(0, at);
  return lastBuild(coder, workspace).parameters.some(
    (one) => one.name.toLowerCase() === name && (at < 0 || one.value.toLowerCase() === wanted.slice(at + 1)),
  );
}

/** Running ones first. */
function rank(coder: LocalCoderContext, workspace: Workspace): number {
  return buildStatus(lastBuild(coder, workspace)) === 'running' ? 0 : 1;
}
