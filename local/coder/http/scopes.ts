/** Scopes that a token may be given. No chat and no audit scope is among them. */

/** What each composite stands for. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  'coder:apikeys.manage_self': ['api_key:*'],
  'coder:application_connect': ['workspace:application_connect'],
  'coder:templates.author': ['template:*', 'file:*'],
  'coder:templates.build': ['template:read', 'file:create', 'file:read'],
  'coder:workspaces.access': ['template:read', 'workspace:read', 'workspace:ssh', 'workspace:application_connect'],
  'coder:workspaces.create': [
    'template:read',
    'template:use',
    'workspace:create',
    'workspace:update',
    'workspace:read',
  ],
  'coder:workspaces.delete': ['template:read', 'template:use', 'workspace:read', 'workspace:delete'],
  'coder:workspaces.operate': [
    'template:read',
    'workspace:read',
    'workspace:start',
    'workspace:stop',
    'workspace:update',
  ],
};

const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  api_key: ['*', 'create', 'delete', 'read', 'update'],
  file: ['*', 'create', 'read'],
  organization: ['*', 'delete', 'read', 'update'],
  task: ['*', 'create', 'delete', 'read', 'update'],
  template: ['*', 'create', 'delete', 'read', 'update', 'use'],
  user: ['*', 'read', 'read_personal', 'update_personal'],
  user_secret: ['*', 'create', 'delete', 'read', 'update'],
  user_skill: ['*', 'create', 'delete', 'read', 'update'],
  workspace: ['*', 'application_connect', 'create', 'delete', 'read', 'ssh', 'start', 'stop', 'update'],
};

export const EXTERNAL_SCOPES: readonly string[] = [
  'coder:all',
  ...Object.keys(COMPOSITES),
  ...Object.entries(RESOURCES).flatMap(([resource, actions]) => actions.map((action) => `${resource}:${action}`)),
].sort();

/** Single permissions, or everything. */
export function grantsOf(scopes: readonly string[]): 'all' | ReadonlySet<string> {
  if (scopes.includes('coder:all')) return 'all';
  return new Set(scopes.flatMap((scope) => COMPOSITES[scope] ?? [scope]));
}
