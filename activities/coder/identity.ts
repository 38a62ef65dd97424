/** What the server is and what an identity may do there: for `doctor`, token rotation and the join with Coder's audit. */
import { z } from 'zod';
import { expectAnswer } from './answer.ts';
import { coderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { signalOf } from './reads.ts';
import { type CoderOptions, coderSettings } from './settings.ts';

const userAnswer = z.object({
  id: z.string(),
  username: z.string(),
  status: z.string(),
  roles: z.array(z.object({ name: z.string() })),
});
const organizationAnswer = z.object({ id: z.string(), name: z.string(), is_default: z.boolean() });
const scopesAnswer = z.object({ external: z.array(z.string()) });
const tokenConfigAnswer = z.object({ max_token_lifetime: z.int() });
const tokenAnswer = z.object({ key: z.string() });
/** Unrecorded, like the queue below: nothing of it is taken for granted. */
const apiKeyAnswer = z.object({ scopes: z.array(z.string()).nullish(), expires_at: z.string().nullish() });
const auditAnswer = z.object({
  audit_logs: z.array(
    z.object({
      time: z.string(),
      action: z.string(),
      resource_type: z.string(),
      resource_id: z.string(),
      request_id: z.string(),
      status_code: z.int(),
    }),
  ),
  count: z.int(),
});
/** Every field optional: these were never recorded. */
const queueAnswer = z
  .array(
    z.object({
      id: z.string().default(''),
      status: z.string().default('unknown'),
      queue_position: z.int().default(0),
      queue_size: z.int().default(0),
      metadata: z.object({ workspace_id: z.string().default('') }).nullish(),
    }),
  )
  .nullable();
const daemonsAnswer = z.array(z.object({ name: z.string().default(''), status: z.string().nullish() })).nullable();

const NANOSECONDS_A_MS = 1_000_000;

export type CoderIdentity = ReturnType<typeof coderIdentity>;

/** Calls as one identity; the token is in `options`. */
export function coderIdentity(options: CoderOptions) {
  const client = coderClient(coderSettings(options));
  const me = { params: { path: { user: 'me' } } };
  const at = (organization: string) => ({ params: { path: { organization } } });
  return {
    user: (call: CallOptions = {}) =>
      expectAnswer('read user', userAnswer, client.GET('/api/v2/users/{user}', { ...me, ...signalOf(call) }), call),
    organization: (organization: string, call: CallOptions = {}) =>
      expectAnswer(
        'read organization',
        organizationAnswer,
        client.GET('/api/v2/organizations/{organization}', { ...at(organization), ...signalOf(call) }),
        call,
      ),
    /** Scopes that a token may be given here: no chat and no audit scope is among them. */
    async scopes(call: CallOptions = {}): Promise<readonly string[]> {
      const request = client.GET('/api/v2/auth/scopes', signalOf(call));
      return (await expectAnswer('read scopes', scopesAnswer, request, call)).external;
    },
    /** Milliseconds; 168 h for an administrator unless the server says otherwise. */
    async longestTokenLifeMs(call: CallOptions = {}): Promise<number> {
      const request = client.GET('/api/v2/users/{user}/keys/tokens/tokenconfig', { ...me, ...signalOf(call) });
      return (
        (await expectAnswer('read token config', tokenConfigAnswer, request, call)).max_token_lifetime /
        NANOSECONDS_A_MS
      );
    },
    /** The scopes and the end of this very token; a token without the right to read keys is `coder_unseen` or `coder_forbidden`. */
    async ownKey(
      call: CallOptions = {},
    ): Promise<{ readonly scopes: readonly string[]; readonly expiresAt: string | null }> {
      // A token is its id and its secret; the id alone is no secret.
      const [keyid = ''] = options.token.split('-');
      const request = client.GET('/api/v2/users/{user}/keys/{keyid}', {
        params: { path: { user: 'me', keyid } },
        ...signalOf(call),
      });
      const key = await expectAnswer('read own key', apiKeyAnswer, request, call);
      return { scopes: key.scopes ?? [], expiresAt: key.expires_at ?? null };
    },
    /** The only time the key is seen. A name that is taken is `coder_conflict`. */
    async createToken(
      token: { readonly name: string; readonly lifeMs: number; readonly scopes: readonly string[] },
      call: CallOptions = {},
    ): Promise<string> {
      const body = { token_name: token.name, lifetime: token.lifeMs * NANOSECONDS_A_MS, scopes: token.scopes };
      const request = client.POST('/api/v2/users/{user}/keys/tokens', { ...me, body, ...signalOf(call) });
      return (await expectAnswer('create token', tokenAnswer, request, call)).key;
    },
    /** Empty without a licence, whatever happened: corroboration, never our audit. */
    audit: (resourceId: string, limit: number, call: CallOptions = {}) =>
      expectAnswer(
        'read audit',
        auditAnswer,
        client.GET('/api/v2/audit', {
          params: { query: { q: `resource_id:${resourceId}`, limit } },
          ...signalOf(call),
        }),
        call,
      ),
    async queue(organization: string, call: CallOptions = {}) {
      const request = client.GET('/api/v2/organizations/{organization}/provisionerjobs', {
        ...at(organization),
        ...signalOf(call),
      });
      return (await expectAnswer('read provisioner jobs', queueAnswer, request, call)) ?? [];
    },
    async daemons(organization: string, call: CallOptions = {}) {
      const request = client.GET('/api/v2/organizations/{organization}/provisionerdaemons', {
        ...at(organization),
        ...signalOf(call),
      });
      return (await expectAnswer('read provisioner daemons', daemonsAnswer, request, call)) ?? [];
    },
  };
}
