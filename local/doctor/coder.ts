/** The Coder server that makes workspaces: reached, which version, who we are there, what the templates lack. */
import { connectCoder } from '../../activities/coder/connect.ts';
import { coderIdentity, type CoderIdentity } from '../../activities/coder/identity.ts';
import type { CoderPort } from '../../activities/coder/port.ts';
import type { CoderOptions } from '../../activities/coder/settings.ts';
import { CHATS_CHECKED_AGAINST } from '../../activities/coder/chats/port.ts';
import type { TemplateState } from '../../schemas/coder/template.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import { fail, ok, skip, warn, type Check } from './check.ts';

export interface CoderExamination extends Pick<CoderOptions, 'url' | 'token'> {
  /** Name or id. */
  readonly organization: string;
  /** Template of each role, by name, and the longest TTL its workspaces may get, in seconds. */
  readonly templates: readonly { readonly name: string; readonly maxTtlSeconds: number }[];
}

/** What the lifecycle identity needs; wider scopes work and are more than it should have. */
const NEEDED_SCOPES = ['coder:workspaces.create', 'coder:workspaces.operate', 'coder:workspaces.delete'] as const;
const EVERYTHING = 'coder:all';
const ADMIN_ROLES = new Set(['owner', 'user-admin', 'template-admin']);
const MAX_CLOCK_SKEW_MS = 2_000;
/** The `Date` header counts seconds. */
const DATE_PRECISION_MS = 1_000;
/** A token that ends sooner is to be replaced now. */
const SOON_MS = 24 * 3_600_000;
const GUIDE = 'See docs/how-to/prepare-coder.md.';

/** Asks nothing that changes the server. */
export async function checkCoder(examination: CoderExamination): Promise<readonly Check[]> {
  const options = { url: examination.url, token: examination.token, timeoutMs: 10_000, rateLimitWaitMs: 0 };
  const coder = connectCoder(options);
  const identity = coderIdentity(options);
  const version = await told('coder', GUIDE, async () => checkVersion((await coder.server()).version, examination.url));
  // Nobody there: what else could be said would only repeat it.
  if (version.status === 'fail') return [version];
  const [clock, who, scopes, provisioners, ...templates] = await Promise.all([
    told('coder clock', 'Synchronise both clocks.', () => checkClock(examination.url)),
    told('coder identity', GUIDE, () => checkUser(identity)),
    checkScopes(identity),
    checkProvisioners(identity, examination.organization),
    ...examination.templates.map((wanted) => checkTemplate(coder, examination.organization, wanted)),
  ]);
  return [version, clock, who, scopes, provisioners, ...templates];
}

function checkVersion(version: string, url: string): Check {
  const found = `${url}, ${version}, client written from ${CHATS_CHECKED_AGAINST}`;
  if (version === CHATS_CHECKED_AGAINST || version.startsWith(`${CHATS_CHECKED_AGAINST}+`)) return ok('coder', found);
  return warn('coder', found, 'Run npm run contract against this server before it carries work.');
}

async function checkClock(url: string): Promise<Check> {
  const before = Date.now();
  const answer = await fetch(new URL('/api/v2/buildinfo', url), { signal: AbortSignal.timeout(10_000) });
  await answer.body?.cancel();
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return skip('coder clock', 'the server says no date');
  const skew = Math.max(0, Math.abs(theirs - (before + Date.now()) / 2) - DATE_PRECISION_MS);
  const found = `${Math.round(skew)} ms between this clock and the server's, beyond the second it is told in`;
  // Deadlines are Coder's, the TTL is ours: a skew makes the backstop come before the timer.
  return skew <= MAX_CLOCK_SKEW_MS ? ok('coder clock', found) : fail('coder clock', found, 'Synchronise both clocks.');
}

async function checkUser(identity: CoderIdentity): Promise<Check> {
  const user = await identity.user();
  const roles = user.roles.map(({ name }) => name);
  const found = `${user.username}, ${user.status}${roles.length === 0 ? '' : `, ${roles.join(', ')}`}`;
  if (user.status === 'suspended')
    return fail('coder identity', found, 'Activate the user; a suspended owner’s workspaces stop.');
  if (!roles.some((role) => ADMIN_ROLES.has(role))) return ok('coder identity', found);
  return warn(
    'coder identity',
    found,
    'Use a service user without these roles: an administrator’s token lives a week at most and may do far more than is needed.',
  );
}

async function checkScopes(identity: CoderIdentity): Promise<Check> {
  try {
    const { scopes, expiresAt } = await identity.ownKey();
    const found = `${scopes.join(', ')}${expiresAt === null ? '' : `, until ${expiresAt}`}`;
    const missing = scopes.includes(EVERYTHING) ? [] : NEEDED_SCOPES.filter((scope) => !scopes.includes(scope));
    if (missing.length > 0) return warn('coder scopes', found, `The token may lack ${missing.join(', ')}. ${GUIDE}`);
    if (expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS) {
      return warn('coder scopes', found, 'The token ends within a day; make another.');
    }
    if (scopes.includes(EVERYTHING))
      return warn('coder scopes', found, `Narrower is enough: ${NEEDED_SCOPES.join(', ')}.`);
    return ok('coder scopes', found);
  } catch (thrown) {
    const { code, message } = asPortcullisError(thrown);
    // A token without api_key:read does not see itself, which is as it should be.
    if (code === 'coder_unseen' || code === 'coder_forbidden') {
      return skip('coder scopes', 'the token may not read what it is; the first create tells');
    }
    return fail('coder scopes', message, GUIDE);
  }
}

async function checkProvisioners(identity: CoderIdentity, organization: string): Promise<Check> {
  try {
    const daemons = await identity.daemons(organization);
    const alive = daemons.filter(({ status }) => status !== 'offline').length;
    const found = `${alive} of ${daemons.length} provisioners alive`;
    return alive > 0
      ? ok('coder provisioners', found)
      : fail('coder provisioners', found, 'No build will ever start: start a provisioner.');
  } catch (thrown) {
    const { code, message } = asPortcullisError(thrown);
    if (code === 'coder_unseen' || code === 'coder_forbidden') {
      return skip('coder provisioners', 'this identity may not list them; a build says how many there are');
    }
    return fail('coder provisioners', message, GUIDE);
  }
}

async function checkTemplate(
  coder: CoderPort,
  organization: string,
  wanted: CoderExamination['templates'][number],
): Promise<Check> {
  const name = `coder template ${wanted.name}`;
  return await told(name, `Push it from examples/coder-templates. ${GUIDE}`, async () => {
    const template = await coder.template(organization, wanted.name);
    const parameters = await coder.templateParameters(template.activeVersionId);
    const has = new Set(parameters.map((parameter) => parameter.name));
    const missing = Object.values(TEMPLATE_PARAMETERS).filter((parameter) => !has.has(parameter));
    if (missing.length > 0) {
      // The server takes an unknown parameter without a word, so the workspace would start without it.
      return fail(name, `lacks ${missing.join(', ')}`, 'Push a version that has them.');
    }
    const foreign = parameters.filter(
      (parameter) => parameter.required && !Object.values<string>(TEMPLATE_PARAMETERS).includes(parameter.name),
    );
    if (foreign.length > 0) {
      return fail(name, `requires ${foreign.map((parameter) => parameter.name).join(', ')}`, 'Give these a default.');
    }
    const faults = templateFaults(template, wanted.maxTtlSeconds);
    return faults.length === 0
      ? ok(name, `${parameters.length} parameters, ${template.activeVersionId}`)
      : fail(name, faults.map(([found]) => found).join('; '), faults.map(([, mend]) => mend).join(' '));
  });
}

/** What in a template's settings works against our own timer (spec of the workspaces: the TTL is ours, Coder's a backstop). */
function templateFaults(template: TemplateState, maxTtlSeconds: number): readonly (readonly [string, string])[] {
  const faults: (readonly [string, string])[] = [];
  const edit = `coder templates edit ${template.name}`;
  if (template.deleted || template.deprecated) faults.push(['is deprecated or deleted', 'Restore it.']);
  if (template.activityBumpMs !== 0) {
    faults.push([`activity bump is ${template.activityBumpMs / 60_000} min`, `${edit} --activity-bump 0.`]);
  }
  if (template.timeTilDormantMs !== 0) {
    faults.push(['workspaces become dormant', `${edit} --dormancy-threshold 0.`]);
  }
  if (!template.userMayCancel) {
    faults.push(['its builds cannot be cancelled', `${edit} --allow-user-cancel-workspace-jobs=true.`]);
  }
  if (template.defaultTtlMs !== 0 && template.defaultTtlMs < maxTtlSeconds * 1000) {
    faults.push([
      `default TTL is ${template.defaultTtlMs / 60_000} min, below the ${maxTtlSeconds / 60} min of its role`,
      `${edit} --default-ttl ${Math.ceil(maxTtlSeconds / 60) + 15}m.`,
    ]);
  }
  return faults;
}

async function told(name: string, mend: string, look: () => Promise<Check>): Promise<Check> {
  try {
    return await look();
  } catch (thrown) {
    return fail(name, asPortcullisError(thrown).message, mend);
  }
}
