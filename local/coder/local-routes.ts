/**
 * What Coder has no API for, because it happens outside of it: looking at compute and ending it, mending what makes a
 * build fail, changing the defaults of a template's parameters. Under `/local/v1`, so that nobody takes it for Coder's.
 */
import { z } from 'zod';
import type { LocalCoderContext } from './context.ts';
import { forbidden, notFound } from './http/refusal.ts';
import { pathId, pathText, queryText, readBody } from './http/request.ts';
import { done, ok, type Route } from './http/route.ts';
import { templateNamed } from './templates/templates.ts';
import { addVersion } from './templates/versions.ts';

export function localRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state, runtime, clock } = coder;
  return [
    {
      method: 'GET',
      path: '/local/v1/compute',
      work: async (request, asker) => {
        if (!asker.covers('workspace:read')) throw forbidden();
        const run = queryText(request, 'run');
        const compute = await runtime.survivors();
        return ok({ compute: run === '' ? compute : compute.filter((one) => one.run === run) });
      },
    },
    {
      // The run is a workflow id with slashes, so it comes as a query.
      method: 'DELETE',
      path: '/local/v1/compute',
      work: async (request, asker) => {
        if (!asker.covers('workspace:delete')) throw forbidden();
        const run = queryText(request, 'run');
        if (run === '') throw notFound();
        return ok({ ended: await runtime.sweep(run) });
      },
    },
    {
      method: 'POST',
      path: '/local/v1/workspaces/:workspace/repair',
      work: (request, asker) => {
        const workspace = state.workspaces.get(pathId(request, 'workspace'));
        if (workspace === undefined || !asker.isOwner) throw notFound();
        state.workspaces.put({ ...workspace, repaired: true });
        return done;
      },
    },
    {
      method: 'PUT',
      path: '/local/v1/templates/:template/defaults',
      work: (request, asker) => {
        const template = templateNamed(state, pathText(request, 'template'));
        const version = state.versions.get(template?.activeVersionId ?? '');
        if (template === undefined || version === undefined || !asker.isOwner) throw notFound();
        const defaults = readBody(request, z.record(z.string(), z.string()));
        const parameters = version.parameters.map((parameter) => {
          const defaultValue = defaults[parameter.name];
          return defaultValue === undefined ? parameter : { ...parameter, defaultValue };
        });
        const name = `${version.name}+`;
        const next = addVersion(coder, { name, parameters, fileId: version.job.fileId, createdBy: asker.user }, true);
        state.versions.put({ ...next, templateId: template.id });
        state.templates.put({ ...template, activeVersionId: next.id, updatedAt: clock.iso() });
        return ok({ template_version_id: next.id });
      },
    },
  ];
}
