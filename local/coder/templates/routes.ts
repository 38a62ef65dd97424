/** Templates, their versions and the files they are made of. */
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';
import { contentDigest, digestHex } from '../../../schemas/digest.ts';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { forbidden, nameTaken, notFound, refuseFields } from '../http/refusal.ts';
import { bodyId, pathId, pathText, queryText, readBody, searchTerms } from '../http/request.ts';
import { created, ok, type Route } from '../http/route.ts';
import { checkOrganization } from '../organizations.ts';
import type { Template, TemplateVersion } from '../state/records.ts';
import { addTemplate, templateNamed, templateView } from './templates.ts';
import { parameterView } from './parameters.ts';
import { addVersion, parametersOfArchive, versionView } from './versions.ts';

const newVersion = z.object({ name: z.string().nullish(), file_id: z.string() });
const newTemplate = z.object({
  name: z.string(),
  display_name: z.string().default(''),
  description: z.string().default(''),
  template_version_id: bodyId,
  default_ttl_ms: z.int().default(0),
  activity_bump_ms: z.int().default(3_600_000),
  allow_user_cancel_workspace_jobs: z.boolean().default(false),
});

export function templateRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  const versionOf = (request: Request, asker: Asker): TemplateVersion => {
    const version = state.versions.get(pathId(request, 'version'));
    if (version === undefined || !asker.covers('template:read')) throw notFound();
    return version;
  };
  const readable = (asker: Asker, template: Template | undefined): Template => {
    if (template === undefined || !asker.covers('template:read')) throw notFound();
    return template;
  };
  return [
    {
      method: 'POST',
      path: '/api/v2/files',
      work: (request, asker) => {
        if (!asker.managesTemplates) throw forbidden();
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const hash = digestHex(contentDigest(bytes));
        const known = state.files.all().find((file) => file.hash === hash);
        const file = known ?? state.files.put({ id: randomUUID(), hash, parameters: parametersOfArchive(bytes) });
        return { status: known === undefined ? 201 : 200, body: { hash: file.id } };
      },
    },
    {
      method: 'POST',
      path: '/api/v2/organizations/:organization/templateversions',
      work: (request, asker) => {
        checkOrganization(state, pathText(request, 'organization'));
        if (!asker.managesTemplates) throw forbidden();
        const { name, file_id: fileId } = readBody(request, newVersion);
        const file = state.files.get(fileId);
        if (file === undefined) throw notFound();
        const { parameters } = file;
        const version = { name: name ?? `version-${fileId.slice(0, 8)}`, parameters, fileId, createdBy: asker.user };
        return created(versionView(coder, addVersion(coder, version), true));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/templateversions/:version',
      work: (request, asker) => ok(versionView(coder, versionOf(request, asker))),
    },
    {
      method: 'GET',
      path: '/api/v2/templateversions/:version/rich-parameters',
      work: (request, asker) => ok(versionOf(request, asker).parameters.map(parameterView)),
    },
    {
      method: 'GET',
      path: '/api/v2/templateversions/:version/presets',
      work: (request, asker) => {
        versionOf(request, asker);
        return ok(null);
      },
    },
    {
      method: 'POST',
      path: '/api/v2/organizations/:organization/templates',
      work: (request, asker) => {
        checkOrganization(state, pathText(request, 'organization'));
        if (!asker.managesTemplates) throw forbidden();
        const asked = readBody(request, newTemplate);
        const { name } = asked;
        if (templateNamed(state, name) !== undefined) throw nameTaken(`Template with name "${name}" already exists.`);
        if (state.versions.get(asked.template_version_id) === undefined) {
          const detail = 'template version does not exist';
          const message = `Template version "${asked.template_version_id}" does not exist.`;
          throw refuseFields(message, [{ field: 'template_version_id', detail }]);
        }
        const template = addTemplate(coder, {
          name,
          displayName: asked.display_name,
          description: asked.description,
          versionId: asked.template_version_id,
          defaultTtlMs: asked.default_ttl_ms,
          activityBumpMs: asked.activity_bump_ms,
          userMayCancel: asked.allow_user_cancel_workspace_jobs,
          createdBy: asker.user,
        });
        return created(templateView(state, template));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/organizations/:organization/templates/:template',
      work: (request, asker) => {
        checkOrganization(state, pathText(request, 'organization'));
        return ok(templateView(state, readable(asker, templateNamed(state, pathText(request, 'template')))));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/templates',
      work: (request, asker) => {
        const names = searchTerms(queryText(request, 'q')).flatMap(([key, value]) => (key === 'name' ? [value] : []));
        const found = state.templates.all().filter(({ name }) => names.every((part) => name.includes(part)));
        return ok(asker.covers('template:read') ? found.map((template) => templateView(state, template)) : []);
      },
    },
    {
      method: 'GET',
      path: '/api/v2/templates/:template',
      work: (request, asker) =>
        ok(templateView(state, readable(asker, state.templates.get(pathId(request, 'template'))))),
    },
  ];
}
