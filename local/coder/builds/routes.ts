/** Builds of workspaces: asked for, read, cancelled, their parameters and logs. */
import type { Response } from 'express';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { forbidden, notFound, refuse } from '../http/refusal.ts';
import { page, pathId, queryNumber, queryText, readBody } from '../http/request.ts';
import { created, ok, type Route } from '../http/route.ts';
import type { Build, Workspace } from '../state/records.ts';
import { visibleWorkspace } from '../workspaces/visible.ts';
import { logLineView, logText } from './log-lines.ts';
import { buildRequest, requestBuild } from './request.ts';
import { isActive } from './status.ts';
import { buildTimings } from './timings.ts';
import { buildView } from './view.ts';

export function buildRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  /** A build stays readable when its workspace is gone. */
  const buildOf = (asker: Asker, id: string): { readonly build: Build; readonly workspace: Workspace } => {
    const build = state.builds.get(id);
    if (build === undefined) throw notFound();
    return { build, workspace: visibleWorkspace(coder, asker, build.workspaceId) };
  };
  return [
    {
      method: 'POST',
      path: '/api/v2/workspaces/:workspace/builds',
      work: async (request, asker) => {
        const workspace = visibleWorkspace(coder, asker, pathId(request, 'workspace'));
        const asked = await requestBuild(coder, asker, workspace, readBody(request, buildRequest));
        return created(buildView(coder, asked, true));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/workspaces/:workspace/builds',
      work: (request, asker) => {
        const workspace = visibleWorkspace(coder, asker, pathId(request, 'workspace'));
        const builds = [...state.builds.of(workspace.id)].sort((one, other) => other.number - one.number);
        return ok(page(request, builds).map((build) => buildView(coder, build)));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/workspacebuilds/:build',
      work: (request, asker) => ok(buildView(coder, buildOf(asker, pathId(request, 'build')).build)),
    },
    {
      method: 'GET',
      path: '/api/v2/workspacebuilds/:build/parameters',
      work: (request, asker) => {
        const { build } = buildOf(asker, pathId(request, 'build'));
        return ok(build.parameters.map(({ name, value }) => ({ name, value })));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/workspacebuilds/:build/timings',
      work: (request, asker) => ok(buildTimings(coder, buildOf(asker, pathId(request, 'build')).build)),
    },
    {
      method: 'GET',
      path: '/api/v2/workspacebuilds/:build/logs',
      work: (request, asker, response) => {
        const { build } = buildOf(asker, pathId(request, 'build'));
        const lines = state.logs.read(build.id, queryNumber(request, 'after'));
        const format = queryText(request, 'format');
        if (format === 'text') return text(response, logText(lines));
        if (format === '' || format === 'json') return ok(lines.map(logLineView));
        throw refuse(400, 'Invalid format parameter.', 'Allowed values are "json" and "text".');
      },
    },
    {
      method: 'PATCH',
      path: '/api/v2/workspacebuilds/:build/cancel',
      work: (request, asker) => {
        const { build, workspace } = buildOf(asker, pathId(request, 'build'));
        cancel(coder, asker, build, workspace, queryText(request, 'expect_status'));
        return ok({ message: 'Job has been marked as canceled...' });
      },
    },
  ];
}

function cancel(coder: LocalCoderContext, asker: Asker, build: Build, workspace: Workspace, expected: string): void {
  const { job } = build;
  const { state, queue } = coder;
  if (!asker.covers('workspace:update')) throw forbidden();
  if (expected !== '' && expected !== 'running' && expected !== 'pending') {
    throw refuse(400, `Invalid expect_status "${expected}". Only 'running' or 'pending' are allowed.`);
  }
  if (!isActive(job)) throw refuse(400, 'Job has already completed!');
  if (job.canceledAt !== null) throw refuse(400, 'Job has already been marked as canceled!');
  const allowed = state.templates.get(workspace.templateId)?.userMayCancel === true;
  // What waits may always be cancelled; what runs, only where the template allows it or by an owner.
  if (job.status !== 'pending' && !allowed && !asker.isOwner) {
    throw refuse(403, 'User is not allowed to cancel workspace builds. Owner role is required.');
  }
  if (expected !== '' && job.status !== expected) throw refuse(412, 'Job is not in the expected state.');
  queue.cancel(build);
}

function text(response: Response, body: string): 'sent' {
  response.status(200).type('text/plain').send(body);
  return 'sent';
}
