/** Users, sessions and tokens. */
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import { secretDigest } from '../http/asker.ts';
import { forbidden, nameTaken, notFound, refuse, refuseFields } from '../http/refusal.ts';
import { pathText, readBody } from '../http/request.ts';
import { created, ok, type OpenRoute, type Route } from '../http/route.ts';
import { EXTERNAL_SCOPES } from '../http/scopes.ts';
import { addToken, addUser, LONGEST_TOKEN_HOURS, newKey, OWNER_TOKEN_HOURS, userNamed, userOf } from './accounts.ts';
import { keyView, userView } from './view.ts';

const NANOSECONDS_AN_HOUR = 3_600e9;

const newUser = z.object({
  username: z.string(),
  email: z.string(),
  name: z.string().default(''),
  password: z.string().nullish(),
});
const login = z.object({ email: z.string(), password: z.string() });
const newToken = z.object({
  token_name: z.string().default(''),
  lifetime: z.number().default(0),
  scopes: z.array(z.string()).default([]),
});

export function userRoutes(coder: LocalCoderContext): readonly (Route | OpenRoute)[] {
  const { state } = coder;
  return [
    {
      method: 'GET',
      path: '/api/v2/users/first',
      open: () => {
        if (state.users.all().length === 0) throw refuse(404, 'The initial user has not been created!');
        return ok({ message: 'The initial user has already been created!' });
      },
    },
    {
      method: 'POST',
      path: '/api/v2/users/first',
      open: (request) => {
        if (state.users.all().length > 0) throw refuse(409, 'The initial user has already been created.');
        const { username, email, name, password } = readBody(request, newUser);
        const first = { username, email, name, password: password ?? null, organizationRoles: [] };
        const user = addUser(coder, { ...first, siteRoles: ['owner'] });
        return created({ user_id: user.id, organization_id: state.organizationId });
      },
    },
    {
      method: 'POST',
      path: '/api/v2/users/login',
      open: (request) => {
        const { email, password } = readBody(request, login);
        const user = state.users
          .all()
          .find((one) => one.email === email && one.passwordDigest === secretDigest(password));
        if (user === undefined) throw refuse(401, 'Incorrect email or password.');
        state.users.put({ ...user, status: 'active', lastSeenAt: coder.clock.iso() });
        const key = newKey();
        addToken(coder, user, key, { name: '', scopes: ['coder:all'], hours: 24 });
        return created({ session_token: key });
      },
    },
    {
      method: 'POST',
      path: '/api/v2/users',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        const { username, email, name, password } = readBody(request, newUser);
        const taken = userNamed(state, username) ?? state.users.all().find((user) => user.email === email);
        if (taken !== undefined) throw refuse(409, 'User already exists.');
        const user = { username, email, name, password: password ?? null, siteRoles: [], organizationRoles: [] };
        return created(userView(state, addUser(coder, user)));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/users/:user',
      work: (request, asker) => ok(userView(state, userOf(state, asker, pathText(request, 'user')))),
    },
    {
      method: 'GET',
      path: '/api/v2/users/:user/login-type',
      work: (request, asker) => {
        const user = userOf(state, asker, pathText(request, 'user'));
        return ok({ login_type: userView(state, user).login_type });
      },
    },
    {
      method: 'GET',
      path: '/api/v2/users/:user/keys/tokens/tokenconfig',
      work: (request, asker) => {
        const user = userOf(state, asker, pathText(request, 'user'));
        return ok({ max_token_lifetime: longestHours(user.siteRoles.includes('owner')) * NANOSECONDS_AN_HOUR });
      },
    },
    {
      method: 'POST',
      path: '/api/v2/users/:user/keys/tokens',
      work: (request, asker) => {
        const user = userOf(state, asker, pathText(request, 'user'));
        if (user.id !== asker.user.id && !asker.isOwner) throw notFound();
        const { token_name: name, lifetime, scopes } = readBody(request, newToken);
        const unknown = scopes.find((scope) => !EXTERNAL_SCOPES.includes(scope));
        if (unknown !== undefined) {
          throw refuse(400, 'Failed to create API key.', `invalid or unsupported API key scope: "${unknown}"`);
        }
        const longest = longestHours(user.siteRoles.includes('owner'));
        const hours = lifetime === 0 ? OWNER_TOKEN_HOURS : lifetime / NANOSECONDS_AN_HOUR;
        if (hours > longest) {
          const detail = `lifetime must be less than ${longest}h0m0s`;
          throw refuse(400, 'Failed to validate create API key request.', detail);
        }
        if (name !== '' && state.tokens.of(user.id).some((token) => token.name === name)) {
          throw nameTaken(`A token with name "${name}" already exists.`);
        }
        const key = newKey();
        addToken(coder, user, key, { name, hours, scopes: scopes.length === 0 ? ['coder:all'] : scopes });
        return created({ key });
      },
    },
    {
      method: 'GET',
      path: '/api/v2/users/:user/keys/:keyid',
      work: (request, asker) => {
        const user = userOf(state, asker, pathText(request, 'user'));
        const token = state.tokens.get(pathText(request, 'keyid'));
        const mayRead = asker.covers('api_key:read') && (user.id === asker.user.id || asker.isOwner);
        if (!mayRead || token?.userId !== user.id) throw notFound();
        return ok(keyView(token));
      },
    },
    {
      method: 'PUT',
      path: '/api/v2/users/:user/roles',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        const user = userOf(state, asker, pathText(request, 'user'));
        const { roles } = readBody(request, z.object({ roles: z.array(z.string()) }));
        const known = z.array(z.enum(['owner', 'template-admin', 'auditor'])).safeParse(roles);
        if (!known.success) throw refuseFields('Validation failed.', [{ field: 'roles', detail: 'unknown role' }]);
        return ok(userView(state, state.users.put({ ...user, siteRoles: known.data })));
      },
    },
    {
      method: 'PUT',
      path: '/api/v2/organizations/:organization/members/:user/roles',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        const user = userOf(state, asker, pathText(request, 'user'));
        const { roles } = readBody(request, z.object({ roles: z.array(z.string()) }));
        const organizationRoles = roles.includes('agents-access') ? (['agents-access'] as const) : [];
        state.users.put({ ...user, organizationRoles: [...organizationRoles] });
        return ok({ user_id: user.id, organization_id: state.organizationId, roles: roles.map((name) => ({ name })) });
      },
    },
  ];
}

function longestHours(isOwner: boolean): number {
  return isOwner ? OWNER_TOKEN_HOURS : LONGEST_TOKEN_HOURS;
}
