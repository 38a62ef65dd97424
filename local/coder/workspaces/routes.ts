/** Workspaces: made, read, listed, watched, and how long they live. */
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { notFound, refuse } from '../http/refusal.ts';
import { page, pathId, pathText, queryText, readBody } from '../http/request.ts';
import { created, done, ok, type Route } from '../http/route.ts';
import type { Workspace } from '../state/records.ts';
import { userOf } from '../users/accounts.ts';
import { createRequest, createWorkspace, named } from './create.ts';
import { searchWorkspaces } from './search.ts';
import { extend, putTtl } from './ttl.ts';
import { workspaceView } from './view.ts';
import { sees, visibleWorkspace } from './visible.ts';
import { watchWorkspace } from './watch.ts';

export function workspaceRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  const at = '/api/v2/workspaces/:workspace';
  return [
    {
      method: 'POST',
      path: '/api/v2/users/:user/workspaces',
      work: async (request, asker) => {
        const owner = userOf(state, asker, pathText(request, 'user'));
        const workspace = await createWorkspace(coder, asker, owner, readBody(request, createRequest));
        return created(workspaceView(coder, workspace, true));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/users/:user/workspace/:name',
      work: (request, asker) => {
        const owner = userOf(state, asker, pathText(request, 'user'));
        const name = pathText(request, 'name');
        const alive = named(coder, owner, name);
        const last = () =>
          state.workspaces.of(owner.id).findLast((one) => one.name.toLowerCase() === name.toLowerCase());
        const found = alive ?? (queryText(request, 'include_deleted') === 'true' ? last() : undefined);
        if (found === undefined || !sees(asker, found)) throw notFound();
        return ok(workspaceView(coder, found));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/workspaces',
      work: (request, asker) => {
        const found = searchWorkspaces(coder, asker, queryText(request, 'q'));
        const workspaces = page(request, found).map((workspace) => workspaceView(coder, workspace));
        return ok({ workspaces, count: found.length });
      },
    },
    {
      method: 'GET',
      path: at,
      work: (request, asker) => {
        const workspace = visibleWorkspace(coder, asker, pathId(request, 'workspace'));
        if (workspace.deleted && queryText(request, 'include_deleted') !== 'true') throw gone(workspace);
        return ok(workspaceView(coder, workspace));
      },
    },
    {
      method: 'PUT',
      path: `${at}/ttl`,
      work: (request, asker) => {
        const workspace = changeable(coder, asker, pathId(request, 'workspace'));
        const { ttl_ms: ttlMs } = readBody(request, z.object({ ttl_ms: z.int().nullish() }));
        putTtl(coder, workspace, ttlMs ?? null);
        return done;
      },
    },
    {
      method: 'PUT',
      path: `${at}/extend`,
      work: (request, asker) => {
        const workspace = changeable(coder, asker, pathId(request, 'workspace'));
        const { deadline } = readBody(request, z.object({ deadline: z.string().nullish() }));
        return ok({ message: extend(coder, workspace, deadline ?? null) });
      },
    },
    {
      method: 'PUT',
      path: `${at}/dormant`,
      work: (request, asker) => {
        const workspace = changeable(coder, asker, pathId(request, 'workspace'));
        const { dormant } = readBody(request, z.object({ dormant: z.boolean() }));
        if (dormant === (workspace.dormantAt !== null)) return { status: 304 };
        return ok(
          workspaceView(coder, state.workspaces.put({ ...workspace, dormantAt: dormant ? coder.clock.iso() : null })),
        );
      },
    },
    {
      method: 'GET',
      path: `${at}/resolve-autostart`,
      work: (request, asker) => {
        visibleWorkspace(coder, asker, pathId(request, 'workspace'));
        return ok({ parameter_mismatch: false });
      },
    },
    {
      method: 'GET',
      path: `${at}/watch`,
      work: (request, asker, response) => {
        watchWorkspace(coder, visibleWorkspace(coder, asker, pathId(request, 'workspace')).id, response);
        return 'sent';
      },
    },
  ];
}

function changeable(coder: LocalCoderContext, asker: Asker, id: string): Workspace {
  const workspace = visibleWorkspace(coder, asker, id);
  if (!asker.covers('workspace:update')) throw notFound();
  return workspace;
}

function gone({ id }: Workspace) {
  return refuse(
    410,
    `Workspace "${id}" was deleted, you can view this workspace by specifying '?include_deleted=true' and trying again.`,
  );
}
