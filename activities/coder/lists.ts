/** Workspaces of an owner with the run each carries. */
import type { OwnedWorkspace, WorkspaceState } from '../../schemas/coder/workspace.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { expectAnswer } from './answer.ts';
import { workspacePageAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { readParameters, signalOf } from './reads.ts';

const PAGE = 100;
/** Parameters are read one build at a time; so many at once keep a reconcile of 200 short. */
const AT_ONCE = 16;
/** What may stand in a search term without changing its meaning. */
const TERM = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,511}$/;

export async function listOwned(
  client: CoderClient,
  runParameter: string,
  owner: string,
  call: CallOptions = {},
): Promise<readonly OwnedWorkspace[]> {
  const workspaces = await list(client, `owner:${term('owner', owner)}`, call);
  return withRuns(client, runParameter, workspaces, call);
}

/** The server's search ignores case, so what it finds is compared once more. */
export async function listByRun(
  client: CoderClient,
  runParameter: string,
  owner: string,
  run: string,
  call: CallOptions = {},
): Promise<readonly OwnedWorkspace[]> {
  const query = `owner:${term('owner', owner)} param:${runParameter}=${term(runParameter, run)}`;
  const found = await withRuns(client, runParameter, await list(client, query, call), call);
  return found.filter((owned) => owned.run === run);
}

async function list(client: CoderClient, q: string, call: CallOptions): Promise<readonly WorkspaceState[]> {
  const byId = new Map<string, WorkspaceState>();
  for (let offset = 0; ; offset += PAGE) {
    const request = client.GET('/api/v2/workspaces', {
      params: { query: { q, limit: PAGE, offset } },
      ...signalOf(call),
    });
    const page = await expectAnswer('list workspaces', workspacePageAnswer, request, call);
    for (const workspace of page.workspaces) byId.set(workspace.id, workspace);
    if (page.workspaces.length < PAGE) return [...byId.values()];
  }
}

async function withRuns(
  client: CoderClient,
  runParameter: string,
  workspaces: readonly WorkspaceState[],
  call: CallOptions,
): Promise<readonly OwnedWorkspace[]> {
  const owned: OwnedWorkspace[] = [];
  for (let start = 0; start < workspaces.length; start += AT_ONCE) {
    const some = workspaces.slice(start, start + AT_ONCE).map(async (workspace) => {
      const parameters = await readParameters(client, workspace.build.id, call);
      const run = parameters.find(({ name }) => name === runParameter)?.value;
      return { workspace, run: run === undefined || run === '' ? null : run };
    });
    owned.push(...(await Promise.all(some)));
  }
  return owned;
}

function term(name: string, value: string): string {
  if (TERM.test(value)) return value;
  throw portcullisError('coder_parameter_invalid', { name, reason: 'it has signs that a search would read' });
}
