/**
 * Who may write what: one line for each key family of spec/store.md, with the commands its writer gets.
 *
 * Patterns are below `ns:{tenant}:` and always name the tenant, because `*` also matches colons: `ns:*:a2a:*` would
 * let the writer of a task's snapshot expire `ns:local:audit:a2a:…:result`.
 */
import type { StoreUser } from './users.ts';

/** Written once: SETNX and nothing else, so no user, and no script of theirs, can replace, expire or remove it. */
const ONCE = ['setnx'] as const;

interface Family {
  /** Glob below the tenant's prefix. */
  readonly keys: string;
  readonly writers: Readonly<Partial<Record<StoreUser, readonly string[]>>>;
}

/** Immutable records. The attack tests walk this list. */
export const IMMUTABLE_FAMILIES: readonly Family[] = [
  // Control admits the checks of a ticket by the same script as the gateway.
  { keys: 'audit:a2a:*:request', writers: { gateway: ONCE, control: ONCE } },
  { keys: 'audit:a2a:*:result', writers: { control: ONCE } },
  { keys: 'audit:a2a:*:stdout:*', writers: { gateway: ONCE } },
  { keys: 'audit:a2a:*:stderr:*', writers: { gateway: ONCE } },
  { keys: 'audit:[0-9]*', writers: { control: ONCE, gate: ONCE } },
  { keys: 'audit-mark:*', writers: { control: ONCE, gate: ONCE } },
  { keys: 'claim-code:*', writers: { control: ONCE } },
  // The gateway marks a code as used beside it: it can use one up and cannot make or change one.
  { keys: 'claim-code:*:used', writers: { gateway: ONCE } },
  { keys: 'evidence:*', writers: { control: ONCE } },
  { keys: 'subject:*', writers: { control: ONCE } },
  { keys: 'context:*', writers: { control: ONCE } },
  { keys: 'finding:*', writers: { control: ONCE } },
  { keys: 'disposition:*', writers: { control: ONCE } },
  { keys: 'human:*', writers: { control: ONCE } },
  { keys: 'reason:*', writers: { control: ONCE } },
  { keys: 'grant:*', writers: { control: ONCE } },
  { keys: 'policy:*', writers: { control: ONCE } },
  { keys: 'revoked:*', writers: { control: ONCE } },
  { keys: 'ledger:*', writers: { control: ONCE } },
  // The gateway marks an approval as used beside it, like a claim code.
  { keys: 'approval:*', writers: { control: ONCE } },
  { keys: 'approval:*:used', writers: { gateway: ONCE } },
  { keys: 'review:*', writers: { gateway: ONCE } },
  { keys: 'decision:*', writers: { gate: ONCE } },
  { keys: 'contradiction:*', writers: { gate: ONCE } },
];

const TASK_COMMANDS = ['hset', 'hsetnx', 'hincrby', 'xadd', 'pexpire'] as const;
const LIST_COMMANDS = ['zadd', 'zremrangebyscore'] as const;
const CLAIM_COMMANDS = ['hset', 'persist', 'pexpire'] as const;

/** Everything that changes: heads, claims, lines, leases, projections. */
export const CHANGING_FAMILIES: readonly Family[] = [
  { keys: 'pair:*:roles', writers: { control: ['set'] } },
  { keys: 'pair:*:head', writers: { control: ['set'] } },
  { keys: 'pair:*:subject:*', writers: { control: ['set'] } },
  { keys: 'policy:head:*', writers: { control: ['set'] } },
  { keys: 'credential:*', writers: { control: ['set'] } },
  // Only added to: a credential that fell out of the set would survive the closing of its pair.
  { keys: 'pair:*:credentials', writers: { control: ['sadd'] } },
  { keys: 'kill-switch', writers: { control: ['set'] } },
  { keys: 'authority:epoch', writers: { control: ['incr'] } },
  { keys: 'merge-lease:*', writers: { control: ['set', 'del'] } },
  // Only counted up: an old number that came again would let an old holder land.
  { keys: 'merge-fence:*', writers: { control: ['incr'] } },
  { keys: 'audit:head', writers: { control: ['set'], gate: ['set'] } },
  { keys: 'pair:*:verification', writers: { control: ['hset'] } },
  { keys: 'pair:*:request-seq', writers: { gateway: ['set'], control: ['set'] } },
  { keys: 'pair:*:tasks', writers: { gateway: LIST_COMMANDS, control: LIST_COMMANDS } },
  { keys: 'verify:*', writers: { gateway: CLAIM_COMMANDS, control: CLAIM_COMMANDS } },
  { keys: 'verify-accepted', writers: { gateway: ['zadd', 'zrem'], control: ['zadd', 'zrem'] } },
  { keys: 'a2a:*', writers: { gateway: TASK_COMMANDS, control: TASK_COMMANDS } },
  { keys: 'a2a:msg:*', writers: { gateway: ['set', 'del'], control: ['set', 'del'] } },
  { keys: 'queue:*', writers: { control: ['rpush', 'lrem', 'hdel'] } },
  { keys: 'queue:*:started', writers: { gateway: ['hsetnx'] } },
  { keys: 'presence:*', writers: { gateway: ['set', 'del'] } },
  { keys: 'audit:a2a:rejected', writers: { gateway: ['xadd'] } },
  { keys: 'assignment:*', writers: { control: ['set'] } },
  { keys: 'pair:*:approval', writers: { control: ['set'] } },
  { keys: 'reviews:*', writers: { gateway: ['rpush'] } },
  { keys: 'ticket:*', writers: { control: ['hset'] } },
  { keys: 'tickets', writers: { control: ['zadd'] } },
  { keys: 'tickets:open', writers: { control: ['sadd', 'srem'] } },
  { keys: 'workspace:*', writers: { control: ['hset', 'pexpire', 'persist'] } },
  { keys: 'workspaces', writers: { control: ['zadd', 'zremrangebyscore'] } },
  { keys: 'workspaces:open', writers: { control: ['sadd', 'srem'] } },
  { keys: 'incident:*', writers: { control: ['set'] } },
  { keys: 'incidents', writers: { control: ['zadd'] } },
  { keys: 'slots:*', writers: { control: ['set'] } },
  // A ring: what it holds is capped, so its writer may let the oldest fall off.
  { keys: 'event_ring', writers: { control: ['xadd'] } },
  { keys: 'flow_recovery', writers: { control: ['hset', 'hdel'] } },
  { keys: 'reconcile:suspects', writers: { control: ['set'] } },
  // Attempts are only ever appended: an index that could be trimmed could hide negative evidence.
  { keys: 'index:*', writers: { control: ['rpush'] } },
];

/** Reading, for every user, on the tenants' keys. */
export const READ_COMMANDS = [
  'get',
  'mget',
  'exists',
  'type',
  'strlen',
  'getrange',
  'pttl',
  'smembers',
  'hget',
  'hmget',
  'hgetall',
  'hexists',
  'hlen',
  'lindex',
  'llen',
  'lpos',
  'lrange',
  'xlen',
  'xrange',
  'xrevrange',
  'zcard',
  'zrange',
  'zscore',
] as const;

/** Without a key: what a connection needs to be checked before it is believed (`connect.ts`). */
export const KEYLESS_COMMANDS = ['ping', 'info', 'time', 'config|get', 'acl|dryrun', 'client|setname'] as const;
