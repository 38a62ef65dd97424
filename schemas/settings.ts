/**
 * The table of settings: what each is called as a key of the file, as a flag and in the environment, its default, and
 * whether it is a secret. Precedence: flag, environment, file, default. `docs/reference/settings.md` is generated from it.
 *
 * @example resolveSettings({ flags: {}, environment: { TEMPORAL_ADDRESS: 'temporal:7233' }, file: {} }).get('temporal.address')
 */
import { portcullisError } from './errors.ts';

export const SETTING_KINDS = ['text', 'port', 'url', 'name', 'level', 'count', 'ports'] as const;
export type SettingKind = (typeof SETTING_KINDS)[number];

interface SettingEntry {
  readonly kind: SettingKind;
  /** Name of the flag without dashes; `null` where a flag would put a secret into the process list, or make no sense. */
  readonly flag: string | null;
  readonly env: string;
  /** `null`: nothing unless set; what that means is in `doc`. */
  readonly default: string | null;
  readonly secret: boolean;
  readonly doc: string;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const SETTINGS = {
  'state.dir': entry(
    'text',
    'state-dir',
    'PORTCULLIS_STATE_DIR',
    null,
    'Directory of the local stack: state, logs, keys. In a clone its own `.portcullis`, otherwise `.portcullis` in the current directory.',
  ),
  'config.file': entry(
    'text',
    'config',
    'PORTCULLIS_CONFIG',
    null,
    'File with settings as one flat JSON object. `config.json` in the state directory unless set.',
  ),
  'credential.file': entry(
    'text',
    'credential',
    'PORTCULLIS_CREDENTIAL_FILE',
    null,
    "File (mode 0600) with the operator's bearer. `keys/operator` in the state directory unless set.",
  ),
  tenant: entry(
    'name',
    'tenant',
    'PORTCULLIS_TENANT',
    'local',
    'The tenant that commands act for and that the workers serve.',
  ),
  'gateway.url': entry(
    'url',
    'gateway',
    'PORTCULLIS_GATEWAY_URL',
    null,
    "Where commands find the gateway. The local stack's own unless set.",
  ),
  'temporal.address': entry(
    'text',
    'temporal-address',
    'TEMPORAL_ADDRESS',
    null,
    '`host:port` of a Temporal server to use. Unset, the local stack starts one.',
  ),
  'temporal.namespace': entry('text', 'temporal-namespace', 'TEMPORAL_NAMESPACE', 'default', 'Temporal namespace.'),
  'store.url': entry(
    'url',
    null,
    'REDIS_URL',
    null,
    '`redis://…` of a store to use (as its administrator for `up`, which sets the users up). Unset, the local stack starts one.',
    true,
  ),
  'coder.url': entry('url', 'coder-url', 'CODER_URL', null, 'Coder server that makes workspaces.'),
  'coder.token': entry('text', null, 'CODER_SESSION_TOKEN', null, 'Session token for Coder.', true),
  'coder.chat-token': entry(
    'text',
    null,
    'CODER_CHAT_TOKEN',
    null,
    'Token of the chat identity at Coder; needed where an agent is asked through a chat.',
    true,
  ),
  'coder.break-glass-token': entry(
    'text',
    null,
    'CODER_BREAK_GLASS_TOKEN',
    null,
    'Token of the identity that may orphan a workspace. Unset, nobody may.',
    true,
  ),
  'coder.organization': entry('name', null, 'CODER_ORGANIZATION', 'coder', 'Organization of the templates at Coder.'),
  'coder.owner': entry('name', null, 'CODER_OWNER', 'portcullis', 'User at Coder that owns every workspace.'),
  'coder.sweep-url': entry(
    'url',
    null,
    'PORTCULLIS_CODER_SWEEP_URL',
    null,
    'Where compute that outlived its workspace is ended: `DELETE` with `?run=` answers `{"ended":n}`. Unset, nothing is swept.',
  ),
  'coder.port': entry(
    'port',
    'coder-port',
    'PORTCULLIS_CODER_PORT',
    '7304',
    'Port that `serve coder`, the local Coder, listens on; 0 takes any.',
  ),
  'coder.agent': entry(
    'name',
    'coder-agent',
    'PORTCULLIS_CODER_AGENT',
    'scripted',
    "What runs the turns of the local Coder's chats in their workspaces: `scripted`, `codex`, `claude` or `pi`.",
  ),
  'coder.agent-dir': entry(
    'text',
    null,
    'PORTCULLIS_CODER_AGENT_DIR',
    null,
    "Directory with the installation of the agent's CLI (where `npm install` was run). The local Coder shows it read-only to workspaces, at `/opt/agent`. Unset, the CLI is looked for below `/usr`.",
  ),
  'coder.agent-model': entry(
    'text',
    null,
    'PORTCULLIS_CODER_AGENT_MODEL',
    null,
    "Model that the local Coder's agent CLI asks its role's host for. Unset, the CLI's own choice; `pi` needs it.",
  ),
  'coder.agent-file': entry(
    'text',
    null,
    'PORTCULLIS_CODER_AGENT_FILE',
    null,
    "File (JSON) with the command that is the local Coder's agent, in the place of `coder.agent`.",
  ),
  'coder.provisioners': entry(
    'count',
    null,
    'PORTCULLIS_CODER_PROVISIONERS',
    '3',
    'How many builds the local Coder carries out at once.',
  ),
  'coder.hung-secs': entry(
    'count',
    null,
    'PORTCULLIS_CODER_HUNG_SECS',
    '10',
    "Seconds after which the local Coder fails a build that it was killed in. A real server's are 300.",
  ),
  'coder.workspace-memory-mb': entry(
    'count',
    null,
    'PORTCULLIS_CODER_WORKSPACE_MEMORY_MB',
    '12288',
    "Memory that one workspace of the local Coder may use, in MiB; at most three quarters of the machine's. Needs a cgroup (`doctor` says whether there is one).",
  ),
  'coder.workspace-processes': entry(
    'count',
    null,
    'PORTCULLIS_CODER_WORKSPACE_PROCESSES',
    '2048',
    'Processes and threads that one workspace of the local Coder may have. Needs a cgroup.',
  ),
  'coder.workspace-disk-mb': entry(
    'count',
    null,
    'PORTCULLIS_CODER_WORKSPACE_DISK_MB',
    '32768',
    'What one workspace of the local Coder may hold of the disk, in MiB. One that holds more ends and loses its files; so does the largest when less than 2 GiB of the disk are free.',
  ),
  'workspace.stale-secs': entry(
    'count',
    null,
    'PORTCULLIS_WORKSPACE_STALE_SECS',
    '90',
    'Seconds for which a workspace may be out of sight before it counts as lost.',
  ),
  'reconcile.secs': entry(
    'count',
    null,
    'PORTCULLIS_RECONCILE_SECS',
    '30',
    'Seconds between two rounds of the reconciler, set when its schedule is made.',
  ),
  'keys.dir': entry(
    'text',
    'keys-dir',
    'PORTCULLIS_KEYS_DIR',
    null,
    'Directory of key files that a server part reads (each reads only its own). `keys` in the state directory unless set.',
  ),
  'gateway.host': entry(
    'text',
    'host',
    'PORTCULLIS_GATEWAY_HOST',
    '127.0.0.1',
    'Address that `serve gateway` listens on.',
  ),
  'gateway.port': entry(
    'port',
    'port',
    'PORTCULLIS_GATEWAY_PORT',
    '7300',
    'Port that `serve gateway` listens on; the local stack takes another when it is taken.',
  ),
  'gateway.socket': entry(
    'text',
    'socket',
    'PORTCULLIS_GATEWAY_SOCKET',
    null,
    'Unix socket that `serve gateway` listens on as well: the way out of local workspaces.',
  ),
  'egress.host': entry(
    'text',
    'egress-host',
    'PORTCULLIS_EGRESS_HOST',
    '127.0.0.1',
    'Address that `serve egress` listens on: one that only the gateway reaches.',
  ),
  'egress.port': entry('port', 'egress-port', 'PORTCULLIS_EGRESS_PORT', '7303', 'Port that `serve egress` listens on.'),
  'egress.url': entry(
    'url',
    null,
    'PORTCULLIS_EGRESS_URL',
    null,
    'Where the gateway finds the egress. Unset, preparations that need a registry fail, and so do calls of a model.',
  ),
  'egress.models': entry(
    'text',
    null,
    'PORTCULLIS_EGRESS_MODELS_FILE',
    null,
    'File (JSON, mode 0600) with the hosts of models, and where the key of each is: `serve egress` reads it. Unset, no workspace has a way to a model.',
  ),
  'health.host': entry(
    'text',
    'health-host',
    'PORTCULLIS_HEALTH_HOST',
    '127.0.0.1',
    "Address of a worker's health and metrics.",
  ),
  'health.port': entry(
    'port',
    'health-port',
    'PORTCULLIS_HEALTH_PORT',
    '0',
    "Port of a worker's health and metrics; 0 takes any.",
  ),
  'repositories.dir': entry(
    'text',
    null,
    'PORTCULLIS_REPOSITORIES_DIR',
    null,
    "The control plane's own bare repositories. `repositories` in the state directory unless set.",
  ),
  'incoming.dir': entry(
    'text',
    null,
    'PORTCULLIS_INCOMING_DIR',
    null,
    'Where the gateway leaves uploaded bundles for the control worker. `incoming` in the state directory unless set.',
  ),
  'import.max-mb': entry(
    'count',
    null,
    'PORTCULLIS_IMPORT_MAX_MB',
    '32768',
    'The largest history that one import takes in, as a bundle, in MiB. 1 GiB of the disks it goes through stays free in any case.',
  ),
  'local.ports': entry(
    'ports',
    null,
    'PORTCULLIS_LOCAL_PORTS',
    'usual',
    'Where the local stack listens at its first start: `usual` tries well-known ports, `any` lets the kernel choose.',
  ),
  'store.maxmemory-mb': entry(
    'count',
    'store-maxmemory-mb',
    'PORTCULLIS_STORE_MAXMEMORY_MB',
    '512',
    'maxmemory of the local store in MiB; admission stops at 80 % of it.',
  ),
  'git.remotes': entry(
    'text',
    null,
    'PORTCULLIS_GIT_REMOTES',
    null,
    'Remotes that changes may be landed on, separated by commas: `https://…`, `ssh://…` or paths of this machine, each whole, or everything below it where it ends in `/`. On the local stack `remotes/` in the state directory unless set.',
  ),
  'git.credentials': entry(
    'text',
    null,
    'PORTCULLIS_GIT_CREDENTIALS_FILE',
    null,
    "File with the credentials for https remotes, as git's `credential-store` keeps them. Only the control worker reads it.",
  ),
  'git.ssh-config': entry(
    'text',
    null,
    'PORTCULLIS_GIT_SSH_CONFIG',
    null,
    "ssh's configuration for ssh remotes, with identity and known hosts. Unset, ssh is not used.",
  ),
  'policies.dir': entry(
    'text',
    null,
    'PORTCULLIS_POLICIES_DIR',
    null,
    'Directory of command policies. The documents that come with the program unless set.',
  ),
  'routing.dir': entry(
    'text',
    null,
    'PORTCULLIS_ROUTING_DIR',
    null,
    'Directory of routing policies. The documents that come with the program unless set.',
  ),
  'verify.reuse-secs': entry(
    'count',
    null,
    'PORTCULLIS_VERIFY_REUSE_SECS',
    '600',
    'Seconds for which the same request is answered with the result that is there.',
  ),
  'log.level': entry(
    'level',
    'log-level',
    'PORTCULLIS_LOG_LEVEL',
    'info',
    'Least level that the parts log: fatal, error, warn, info, debug or trace.',
  ),
} as const satisfies Record<string, SettingEntry>;

export type SettingKey = keyof typeof SETTINGS;
export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

export const SETTING_ORIGINS = ['flag', 'environment', 'file', 'default', 'unset'] as const;
export type SettingOrigin = (typeof SETTING_ORIGINS)[number];

export interface ResolvedSetting {
  readonly value: string | null;
  readonly origin: SettingOrigin;
}

/** Where values come from; each is keyed by what that source calls the setting. */
export interface SettingSources {
  /** By setting key: the command line has mapped its flags. */
  readonly flags: Readonly<Partial<Record<SettingKey, string>>>;
  /** By name of the variable. An empty one counts as unset, as shells cannot tell them apart well. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By setting key, as parsed from the file. */
  readonly file: Readonly<Record<string, unknown>>;
  /** Defaults that depend on where the program runs: paths below the state directory. */
  readonly derived?: Readonly<Partial<Record<SettingKey, string>>>;
}

export interface Settings {
  /** The value, or `null` when it is unset. */
  get(key: SettingKey): string | null;
  /** The value of a setting that has a default. */
  text(key: KeysWithDefault): string;
  /** A port, a count. */
  number(key: KeysWithDefault): number;
  origin(key: SettingKey): SettingOrigin;
}

type KeysWithDefault = {
  [K in SettingKey]: (typeof SETTINGS)[K]['default'] extends string ? K : never;
}[SettingKey];

/** Every setting with its origin, checked. @throws `setting_invalid` naming the first bad one. */
export function resolveSettings(sources: SettingSources): Settings {
  const unknown = Object.keys(sources.file).find((key) => !isSettingKey(key));
  if (unknown !== undefined) throw portcullisError('setting_invalid', { name: unknown, reason: 'is not one we know' });
  const resolved = new Map(SETTING_KEYS.map((key) => [key, resolve(key, sources)]));
  const get = (key: SettingKey) => resolved.get(key)?.value ?? null;
  const text = (key: KeysWithDefault) => get(key) ?? SETTINGS[key].default;
  return {
    get,
    text,
    number: (key) => Number(text(key)),
    origin: (key) => resolved.get(key)?.origin ?? 'unset',
  };
}

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

function resolve(key: SettingKey, { flags, environment, file, derived }: SettingSources): ResolvedSetting {
  const { env } = SETTINGS[key];
  const fallback = derived?.[key] ?? SETTINGS[key].default;
  const flag = flags[key];
  if (flag !== undefined) return { value: checked(key, flag), origin: 'flag' };
  const variable = environment[env];
  if (variable !== undefined && variable !== '') return { value: checked(key, variable), origin: 'environment' };
  if (Object.hasOwn(file, key)) return { value: checked(key, textOf(key, file[key])), origin: 'file' };
  return fallback === null ? { value: null, origin: 'unset' } : { value: fallback, origin: 'default' };
}

function textOf(key: SettingKey, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw portcullisError('setting_invalid', { name: key, reason: 'must be a string or a number' });
}

const PATTERNS: Readonly<Record<SettingKind, { readonly pattern: RegExp; readonly reason: string }>> = {
  text: { pattern: /^[^\0\r\n]+$/, reason: 'must be one line of text' },
  port: { pattern: /^(?:0|[1-9][0-9]{0,4})$/, reason: 'must be a port, 0 to 65535' },
  url: { pattern: /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i, reason: 'must be a URL' },
  name: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    reason: 'must be a name of 1 to 64 letters, digits, dots, dashes',
  },
  level: { pattern: new RegExp(`^(?:${LOG_LEVELS.join('|')})$`), reason: `must be one of ${LOG_LEVELS.join(', ')}` },
  ports: { pattern: /^(?:usual|any)$/, reason: 'must be usual or any' },
  count: { pattern: /^[1-9][0-9]{0,8}$/, reason: 'must be a positive whole number' },
};

/** The reason never repeats the value: it may be a secret. */
function checked(key: SettingKey, value: string): string {
  const { kind } = SETTINGS[key];
  const { pattern, reason } = PATTERNS[kind];
  const holds = pattern.test(value) && (kind !== 'port' || Number(value) <= 65_535);
  if (!holds) throw portcullisError('setting_invalid', { name: key, reason });
  return value;
}

function entry<const D extends string | null>(
  kind: SettingKind,
  flag: string | null,
  env: string,
  fallback: D,
  doc: string,
  secret = false,
): SettingEntry & { readonly default: D } {
  return { kind, flag, env, default: fallback, secret, doc };
}
