/** What must be there when the local Coder serves: users with tokens that others know already, templates, a model. */
import { addModel, addProvider } from './chats/models.ts';
import type { LocalCoderContext } from './context.ts';
import { type Parameter, parameterRecord, type Template, type User } from './state/records.ts';
import { addTemplate, templateNamed } from './templates/templates.ts';
import { addVersion } from './templates/versions.ts';
import { addToken, addUser, LONGEST_TOKEN_HOURS, OWNER_TOKEN_HOURS, userNamed } from './users/accounts.ts';

export interface SeedUser {
  readonly username: string;
  readonly siteRoles: User['siteRoles'];
  readonly organizationRoles: User['organizationRoles'];
  /** `key` as it is sent. Made anew at each start, so a week-long token of an owner does not end a long-lived stack. */
  readonly tokens: readonly { readonly key: string; readonly name: string; readonly scopes: readonly string[] }[];
}

export interface SeedTemplate {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly defaultTtlMs: number;
  readonly activityBumpMs: number;
  /** 0 when left out. */
  readonly timeTilDormantMs?: number;
  readonly userMayCancel: boolean;
}

export interface Seed {
  readonly users: readonly SeedUser[];
  /** Made by the first user. */
  readonly templates: readonly SeedTemplate[];
  /** The default model of chats; null for none. */
  readonly provider: { readonly type: string; readonly name: string; readonly model: string } | null;
}

/** Harmless to repeat: what is there stays, but for a template whose parameters differ, which gets a new version. */
export function plant(coder: LocalCoderContext, seed: Seed): void {
  for (const user of seed.users) plantUser(coder, user);
  const author = userNamed(coder.state, seed.users[0]?.username ?? '');
  if (author !== undefined) for (const template of seed.templates) plantTemplate(coder, template, author);
  if (seed.provider !== null && coder.state.models.all().length === 0) {
    const { type, name, model } = seed.provider;
    const fields = { display_name: name, enabled: true };
    const provider = addProvider(coder, { ...fields, type, name, base_url: '', api_keys: [] });
    addModel(coder, { ...fields, ai_provider_id: provider.id, model, is_default: true, context_limit: 200_000 });
  }
}

function plantUser(coder: LocalCoderContext, { username, siteRoles, organizationRoles, tokens }: SeedUser): void {
  const roles = { siteRoles, organizationRoles };
  const known = userNamed(coder.state, username);
  const user =
    known ?? addUser(coder, { username, email: `${username}@localhost`, name: '', password: null, ...roles });
  coder.state.users.put({ ...user, ...roles });
  const hours = siteRoles.includes('owner') ? OWNER_TOKEN_HOURS : LONGEST_TOKEN_HOURS;
  for (const { key, name, scopes } of tokens) addToken(coder, user, key, { name, scopes, hours });
}

function plantTemplate(coder: LocalCoderContext, seed: SeedTemplate, createdBy: User): Template {
  const { state } = coder;
  const { parameters: given, ...rest } = seed;
  // In the order of keys that a record has when it is read again: what is compared is text.
  const parameters = given.map((parameter) => parameterRecord.parse(parameter));
  const known = templateNamed(state, seed.name);
  const active = state.versions.get(known?.activeVersionId ?? '');
  if (known !== undefined && JSON.stringify(active?.parameters) === JSON.stringify(parameters)) return known;
  const name = `v${state.versions.all().filter(({ templateId }) => templateId === known?.id).length + 1}`;
  const version = addVersion(coder, { name, parameters, fileId: '', createdBy }, true);
  if (known === undefined) return addTemplate(coder, { ...rest, versionId: version.id, createdBy });
  state.versions.put({ ...version, templateId: known.id });
  return state.templates.put({ ...known, activeVersionId: version.id, updatedAt: coder.clock.iso() });
}
