/** Audit, as without a licence: always empty, whatever happened, but for what `testgenerate` makes. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LocalCoderContext } from './context.ts';
import { forbidden, refuseFields } from './http/refusal.ts';
import { checkSearchKeys, page, queryText, readBody, searchTerms } from './http/request.ts';
import { done, ok, type Route } from './http/route.ts';
import type { AuditEntry } from './state/records.ts';
import { userView } from './users/view.ts';

const KEYS = [
  'resource_type',
  'resource_id',
  'resource_target',
  'action',
  'build_reason',
  'username',
  'email',
  'date_from',
  'date_to',
  'organization',
  'request_id',
];
const RESOURCE_TYPES = ['workspace', 'workspace_build', 'template', 'template_version', 'user', 'api_key', 'chat'];
const MESSAGE = 'Invalid audit search query.';
const COUNT_CAP = 2000;

const generate = z.object({
  action: z.string().default('create'),
  resource_type: z.string().default('user'),
  resource_id: z.string().default(''),
});

export function auditRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state, clock } = coder;
  return [
    {
      method: 'GET',
      path: '/api/v2/audit',
      work: (request, asker) => {
        if (!asker.covers('audit_log:read')) throw forbidden();
        if (!asker.isOwner && !asker.user.siteRoles.includes('auditor')) throw forbidden();
        const terms = searchTerms(queryText(request, 'q'));
        checkSearchKeys(terms, KEYS, MESSAGE);
        checkTypes(terms);
        const found = state.audit.all().filter((entry) => terms.every(([key, value]) => matches(entry, key, value)));
        const logs = page(request, found).map((entry) => auditView(coder, entry));
        return ok({ audit_logs: logs, count: found.length, count_cap: COUNT_CAP });
      },
    },
    {
      method: 'POST',
      path: '/api/v2/audit/testgenerate',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        const { action, resource_type: resourceType, resource_id: resourceId } = readBody(request, generate);
        const entry = { action, resourceType, resourceId, userId: asker.user.id };
        state.audit.put({ id: randomUUID(), time: clock.iso(), ...entry });
        return done;
      },
    },
  ];
}

function checkTypes(terms: readonly (readonly [string, string])[]): void {
  const bad = terms.find(([key, value]) => key === 'resource_type' && !RESOURCE_TYPES.includes(value));
  if (bad === undefined) return;
  const [field, value] = bad;
  throw refuseFields(MESSAGE, [
    { field, detail: `Query param "${field}" has invalid value: "${value}" is not a valid value` },
  ]);
}

function matches(entry: AuditEntry, key: string, value: string): boolean {
  switch (key) {
    case 'resource_type':
      return entry.resourceType === value;
    case 'resource_id':
      return entry.resourceId === value;
    case 'action':
      return entry.action === value;
    default:
      return true;
  }
}

function auditView({ state }: LocalCoderContext, entry: AuditEntry) {
  const user = state.users.get(entry.userId);
  return {
    id: entry.id,
    request_id: '00000000-0000-0000-0000-000000000000',
    time: entry.time,
    ip: '127.0.0.1',
    user_agent: '',
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    resource_target: user?.username ?? '',
    resource_icon: '',
    action: entry.action,
    diff: { foo: { old: 'bar', new: 'baz', secret: false } },
    status_code: 200,
    additional_fields: {},
    description: `{user} ${entry.action} ${entry.resourceType} {target}`,
    resource_link: '',
    is_deleted: state.workspaces.get(entry.resourceId)?.deleted ?? false,
    organization_id: '00000000-0000-0000-0000-000000000000',
    user: user === undefined ? null : { ...userView(state, user), organization_ids: [] },
  };
}
