/**
 * The rules of the store's users, for `aclfile`: commands one by one, no category, one selector for each set of commands
 * (Redis 7.0 and Valkey).
 *
 * `default` is off and has no password, so nobody can be it; yet it may do everything. A server that loads its append-only
 * file runs each transaction, and every script is one there, as `default`: without permissions Redis 7.0 drops them all
 * silently and starts empty (https://github.com/redis/redis/issues/14541, https://github.com/valkey-io/valkey/issues/3983).
 *
 * @example aclFile({ tenants: ['local'], passwords }) // 'user default off …\nuser admin on #9f86…'
 */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { GLOBAL_KILL_SWITCH, keysOf } from '../../schemas/keys.ts';
import { CHANGING_FAMILIES, IMMUTABLE_FAMILIES, KEYLESS_COMMANDS, READ_COMMANDS } from './families.ts';
import { ADMIN_USER, STORE_USERS, type StorePasswords, type StoreUser } from './users.ts';

export interface AclSettings {
  /** Every tenant of the installation: a pattern names its tenant (see `families.ts`). */
  readonly tenants: readonly string[];
  readonly passwords: StorePasswords;
}

/** No command of these reads or writes a key, and none changes a user or a setting. */
const ADMIN_COMMANDS = [
  ...KEYLESS_COMMANDS,
  'dbsize',
  'scan',
  'shutdown',
  'lastsave',
  'bgrewriteaof',
  'client|list',
  'acl|list',
  'acl|log',
  'acl|whoami',
  'acl|load',
  'memory|stats',
] as const;

/** The text of an ACL file. Passwords are in it as digests only. @throws `schema_invalid` for a bad tenant */
export function aclFile({ tenants, passwords }: AclSettings): string {
  const lines = [
    'user default off sanitize-payload resetpass allkeys resetchannels +@all',
    userLine(ADMIN_USER, passwords[ADMIN_USER], [plus(ADMIN_COMMANDS)]),
    ...STORE_USERS.map((user) => userLine(user, passwords[user], userRules(user, tenants))),
  ];
  return `${lines.join('\n')}\n`;
}

/** The rules of one user after its name and password: root permissions first, then selectors in parentheses. */
export function userRules(user: StoreUser, tenants: readonly string[]): readonly string[] {
  const prefixes = tenants.map((tenant) => keysOf(tenant).prefix);
  const readable = [...prefixes.map((prefix) => `${prefix}*`), GLOBAL_KILL_SWITCH];
  const rules = [plus(KEYLESS_COMMANDS), selector(READ_COMMANDS, readable, '%R~')];
  // EVAL needs every declared key readable and writable; what the script then calls is checked command by command.
  if (user !== 'reader') rules.push(selector(['eval'], readable, '~'));
  for (const { commands, keys } of writableFamilies(user)) {
    const patterns = keys.flatMap((key) => prefixes.map((prefix) => `${prefix}${key}`));
    if (user === 'control' && keys.includes('kill-switch')) patterns.push(GLOBAL_KILL_SWITCH);
    rules.push(selector(commands, patterns, '~'));
  }
  return rules;
}

/** Families of one writer, those with the same commands together. */
function writableFamilies(
  user: StoreUser,
): readonly { readonly commands: readonly string[]; readonly keys: readonly string[] }[] {
  const bySet = new Map<string, { commands: readonly string[]; keys: string[] }>();
  for (const family of [...IMMUTABLE_FAMILIES, ...CHANGING_FAMILIES]) {
    const commands = family.writers[user];
    if (commands === undefined) continue;
    const set = bySet.get(commands.join()) ?? { commands, keys: [] };
    set.keys.push(family.keys);
    bySet.set(commands.join(), set);
  }
  return [...bySet.values()];
}

function userLine(name: string, password: string, rules: readonly string[]): string {
  const digest = digestHex(contentDigest(new TextEncoder().encode(password)));
  return ['user', name, 'on', `#${digest}`, 'resetkeys', 'resetchannels', '-@all', ...rules].join(' ');
}

function selector(commands: readonly string[], patterns: readonly string[], access: '~' | '%R~'): string {
  return `(-@all ${plus(commands)} ${patterns.map((pattern) => `${access}${pattern}`).join(' ')})`;
}

function plus(commands: readonly string[]): string {
  return commands.map((command) => `+${command}`).join(' ');
}
