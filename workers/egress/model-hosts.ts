/**
 * The hosts of models that an installation has, and the keys of them: one JSON file and a file for each key, all mode 0600. This
 * process alone reads them.
 *
 * @example const hosts = await readModelHosts('/etc/portcullis/models.json'); hosts.get('default')?.base.host
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { ModelApi } from '../../schemas/model-route.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { modelHostsDocument } from './model-hosts.schema.ts';

export interface ModelHost {
  /** As the registry of workspaces names a role's model. */
  readonly name: string;
  /** Without a slash at its end; the calls' paths go below it. */
  readonly base: URL;
  readonly apis: readonly ModelApi[];
  /** The header that the key is sent in, whole; `null` for a host that asks for none. Never leaves this process but to the host. */
  readonly credential: { readonly header: 'x-api-key' | 'authorization'; readonly value: string } | null;
  /** The key by itself, so that it can be kept out of answers. */
  readonly key: string | null;
  /** Models that may be asked for; `null`: any that the host has. */
  readonly models: readonly string[] | null;
  /** Whether a call may use what the host runs or fetches by itself: web search, connectors, addresses of pictures. */
  readonly hostedTools: boolean;
}

export type ModelHosts = ReadonlyMap<string, ModelHost>;

/** What an HTTP header takes, and long enough not to be found by chance in an answer. */
const KEY = /^[\x21-\x7e]{8,4096}$/;

/** @throws `setting_invalid` for a file that is missing, malformed, open to others, or an address that is not safe to send a key to */
export async function readModelHosts(file: string): Promise<ModelHosts> {
  const bytes = Buffer.from(await readOwn(file, 'model hosts'));
  let document: unknown;
  try {
    document = readStrictJson(bytes);
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = modelHostsDocument.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is no list of model hosts'}`.trim());
  }
  const hosts = new Map<string, ModelHost>();
  for (const entry of parsed.data.hosts) {
    if (hosts.has(entry.name)) throw unusable(file, `${entry.name} is there twice`);
    const key = entry.key_file === undefined ? null : await readKey(resolve(dirname(file), entry.key_file));
    if ((key === null) !== (entry.auth === 'none')) throw unusable(file, `${entry.name}: key_file goes with auth`);
    hosts.set(entry.name, {
      name: entry.name,
      base: baseOf(entry.url, file),
      apis: entry.apis,
      credential: credentialOf(entry.auth, key),
      key,
      models: entry.models ?? null,
      hostedTools: entry.hosted_tools ?? false,
    });
  }
  return hosts;
}

function credentialOf(auth: 'x-api-key' | 'bearer' | 'none', key: string | null): ModelHost['credential'] {
  if (key === null || auth === 'none') return null;
  return auth === 'bearer' ? { header: 'authorization', value: `Bearer ${key}` } : { header: 'x-api-key', value: key };
}

/** A key is sent over TLS, or does not leave this machine. */
function baseOf(text: string, file: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const local = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && local))) {
    throw unusable(file, 'a url must be https, or http to this machine');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw unusable(file, 'a url has no user, no query and no fragment');
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

async function readKey(file: string): Promise<string> {
  const key = (await readOwn(file, 'key')).trim();
  if (!KEY.test(key)) throw portcullisError('setting_invalid', { name: `key file ${file}`, reason: 'holds no key' });
  return key;
}

async function readOwn(file: string, what: string): Promise<string> {
  const name = `${what} file ${file}`;
  try {
    if (((await stat(file)).mode & 0o077) !== 0) {
      throw portcullisError('setting_invalid', { name, reason: 'is open to others; make it mode 0600' });
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    throw error instanceof PortcullisError
      ? error
      : portcullisError('setting_invalid', { name, reason: 'cannot be read' }, error);
  }
}

function unusable(file: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `model hosts file ${file}`, reason }, cause);
}
