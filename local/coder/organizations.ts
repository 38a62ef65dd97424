/** The server itself and its one organization. */
import type { LocalCoderContext } from './context.ts';
import { notFound } from './http/refusal.ts';
import { pathText } from './http/request.ts';
import { CODER_VERSION, ok, type OpenRoute, type Route } from './http/route.ts';
import { EXTERNAL_SCOPES } from './http/scopes.ts';
import type { State } from './state/state.ts';

export const ORGANIZATION = { name: 'coder', displayName: 'Coder' } as const;

/** @throws 404 unless the name is that of the one organization: its id, its name or `default` */
export function checkOrganization(state: State, name: string): void {
  if (![state.organizationId, ORGANIZATION.name, 'default'].includes(name)) throw notFound();
}

export function organizationRoutes({ state }: LocalCoderContext, url: () => string): readonly (Route | OpenRoute)[] {
  const organization = () => ({
    id: state.organizationId,
    name: ORGANIZATION.name,
    display_name: ORGANIZATION.displayName,
    icon: '',
    description: 'Builtin default organization.',
    created_at: state.createdAt,
    updated_at: state.createdAt,
    is_default: true,
    default_org_member_roles: ['organization-workspace-access'],
  });
  return [
    {
      method: 'GET',
      path: '/api/v2/buildinfo',
      open: () =>
        ok({
          external_url: 'https://github.com/coder/coder',
          version: CODER_VERSION,
          dashboard_url: url(),
          telemetry: false,
          workspace_proxy: false,
          agent_api_version: '1.0',
          provisioner_api_version: '1.18',
          upgrade_message: '',
          deployment_id: state.deploymentId,
          webpush_public_key: '',
        }),
    },
    { method: 'GET', path: '/healthz', open: () => ({ status: 200, body: 'OK' }) },
    { method: 'GET', path: '/api/v2/auth/scopes', work: () => ok({ external: EXTERNAL_SCOPES }) },
    { method: 'GET', path: '/api/v2/organizations', work: () => ok([organization()]) },
    {
      method: 'GET',
      path: '/api/v2/organizations/:organization',
      work: (request) => {
        checkOrganization(state, pathText(request, 'organization'));
        return ok(organization());
      },
    },
  ];
}
