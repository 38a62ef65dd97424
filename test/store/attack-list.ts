/** What the attack tests try, and on what. Written from spec/store.md, not from the rules under test. */
import type { StoreUser } from '../../activities/store/users.ts';

export type KeyType = 'string' | 'hash' | 'list' | 'stream' | 'zset' | 'set';

export interface Target {
  /** Below `ns:local:`; `ID` stands for an id. */
  readonly key: string;
  readonly type: KeyType;
  readonly writers: readonly StoreUser[];
}

const once = (key: string, ...writers: StoreUser[]): Target => ({ key, type: 'string', writers });

/** Written once, by these users and no other. */
export const IMMUTABLE: readonly Target[] = [
  once('audit:a2a:ID:request', 'gateway'),
  once('audit:a2a:ID:result', 'control'),
  once('audit:a2a:ID:stdout:0', 'gateway'),
  once('audit:a2a:ID:stderr:0', 'gateway'),
  once('audit:7', 'control', 'gate'),
  once('claim-code:ID', 'control'),
  once('claim-code:ID:used', 'gateway', 'control'),
  once('evidence:ID', 'control'),
  once('subject:ID', 'control'),
  once('context:ID', 'control'),
  once('finding:ID', 'control'),
  once('disposition:ID', 'control'),
  once('human:ID', 'control'),
  once('grant:ID:1', 'control'),
  once('policy:ID', 'control'),
  once('ledger:ID', 'control'),
  once('decision:ID', 'gate'),
  once('contradiction:ID:1', 'gate'),
];

/** Changed by these users and no other. */
export const CHANGING: readonly Target[] = [
  { key: 'pair:ID:roles', type: 'string', writers: ['control'] },
  { key: 'pair:ID:head', type: 'string', writers: ['control'] },
  { key: 'pair:ID:credentials', type: 'set', writers: ['control'] },
  { key: 'pair:ID:verification', type: 'hash', writers: ['control'] },
  { key: 'pair:ID:tasks', type: 'zset', writers: ['gateway'] },
  { key: 'pair:ID:request-seq', type: 'string', writers: ['gateway'] },
  { key: 'policy:head:ID', type: 'string', writers: ['control'] },
  { key: 'credential:ID', type: 'string', writers: ['control'] },
  { key: 'kill-switch', type: 'string', writers: ['control'] },
  { key: 'authority:epoch', type: 'string', writers: ['control'] },
  { key: 'audit:head', type: 'string', writers: ['control', 'gate'] },
  { key: 'verify:ID:digest', type: 'hash', writers: ['control', 'gateway'] },
  { key: 'verify-accepted', type: 'zset', writers: ['control', 'gateway'] },
  { key: 'a2a:ID', type: 'hash', writers: ['control', 'gateway'] },
  { key: 'a2a:ID:events', type: 'stream', writers: ['control', 'gateway'] },
  { key: 'a2a:ID:offsets', type: 'hash', writers: ['control', 'gateway'] },
  { key: 'a2a:msg:ID', type: 'string', writers: ['control', 'gateway'] },
  { key: 'queue:ID:forge:1', type: 'list', writers: ['control'] },
  { key: 'presence:ID:forge:1', type: 'string', writers: ['gateway'] },
  { key: 'presence:settling', type: 'string', writers: ['gateway'] },
  { key: 'audit:a2a:rejected', type: 'stream', writers: ['gateway'] },
  { key: 'index:subject:ID', type: 'list', writers: ['control'] },
];

/** Commands that make a key of this type, for the set-up. */
export const MAKE: Readonly<Record<KeyType, (key: string) => readonly string[]>> = {
  string: (key) => ['SET', key, '1'],
  hash: (key) => ['HSET', key, 'field', 'kept'],
  list: (key) => ['RPUSH', key, 'kept'],
  stream: (key) => ['XADD', key, '1-0', 'field', 'kept'],
  zset: (key) => ['ZADD', key, '1', 'kept'],
  set: (key) => ['SADD', key, 'kept'],
};

/** Everything that could change, replace, hide or remove what is under a key, of whichever type. */
export function keyAttacks(key: string): readonly (readonly string[])[] {
  return [
    ['SET', key, 'x'],
    ['SET', key, 'x', 'XX', 'GET'],
    ['SET', key, 'x', 'PX', '1'],
    ['SETEX', key, '1', 'x'],
    ['PSETEX', key, '1', 'x'],
    ['GETSET', key, 'x'],
    ['GETDEL', key],
    ['GETEX', key, 'PX', '1'],
    ['MSET', key, 'x'],
    ['APPEND', key, 'x'],
    ['SETRANGE', key, '0', 'x'],
    ['SETBIT', key, '0', '1'],
    ['BITFIELD', key, 'SET', 'u8', '0', '1'],
    ['BITOP', 'NOT', key, key],
    ['INCR', key],
    ['DECRBY', key, '1'],
    ['INCRBYFLOAT', key, '1'],
    ['PFADD', key, 'x'],
    ['DEL', key],
    ['UNLINK', key],
    ['EXPIRE', key, '1'],
    ['PEXPIRE', key, '1'],
    ['EXPIREAT', key, '1'],
    ['PEXPIREAT', key, '1'],
    ['PERSIST', key],
    ['RENAME', key, 'ns:local:a2a:elsewhere'],
    ['RENAME', 'ns:local:a2a:own', key],
    ['RENAMENX', key, 'ns:local:a2a:elsewhere'],
    ['COPY', 'ns:local:a2a:own', key, 'REPLACE'],
    ['MOVE', key, '1'],
    ['RESTORE', key, '0', 'x', 'REPLACE'],
    ['MIGRATE', '127.0.0.1', '1', key, '0', '10'],
    ['HSET', key, 'field', 'x'],
    ['HDEL', key, 'field'],
    ['HINCRBY', key, 'field', '1'],
    ['RPUSH', key, 'x'],
    ['LPUSH', key, 'x'],
    ['LSET', key, '0', 'x'],
    ['LREM', key, '0', 'kept'],
    ['LTRIM', key, '1', '0'],
    ['LPOP', key],
    ['RPOPLPUSH', key, 'ns:local:a2a:elsewhere'],
    ['SADD', key, 'x'],
    ['SREM', key, 'kept'],
    ['SPOP', key],
    ['SUNIONSTORE', key, 'ns:local:a2a:own'],
    ['ZADD', key, '2', 'kept'],
    ['ZREM', key, 'kept'],
    ['ZREMRANGEBYSCORE', key, '-inf', '+inf'],
    ['ZRANGESTORE', key, 'ns:local:a2a:own', '0', '-1'],
    ['XADD', key, 'MAXLEN', '1', '9-0', 'field', 'x'],
    ['XTRIM', key, 'MAXLEN', '0'],
    ['XDEL', key, '1-0'],
    ['XSETID', key, '99-0'],
    ['XGROUP', 'CREATE', key, 'group', '0'],
    ['SORT', 'ns:local:a2a:own', 'BY', 'nosort', 'STORE', key],
    ['GEOADD', key, '1', '1', 'x'],
  ];
}

/** Attacks that name no key. */
export const SERVER_ATTACKS: readonly (readonly string[])[] = [
  ['FLUSHALL'],
  ['FLUSHDB', 'ASYNC'],
  ['SWAPDB', '0', '1'],
  ['SELECT', '1'],
  ['CONFIG', 'SET', 'appendfsync', 'everysec'],
  ['CONFIG', 'SET', 'appendonly', 'no'],
  ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'],
  ['CONFIG', 'REWRITE'],
  ['CONFIG', 'RESETSTAT'],
  ['ACL', 'SETUSER', 'gate', '+@all'],
  ['ACL', 'SETUSER', 'default', 'on', 'nopass', '+@all', '~*'],
  ['ACL', 'LIST'],
  ['ACL', 'GETUSER', 'gate'],
  ['SHUTDOWN', 'NOSAVE'],
  ['DEBUG', 'SLEEP', '0'],
  ['REPLICAOF', '127.0.0.1', '1'],
  ['FAILOVER'],
  ['SAVE'],
  ['BGREWRITEAOF'],
  ['MONITOR'],
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['CLIENT', 'PAUSE', '100000'],
  ['SCRIPT', 'FLUSH'],
  ['SCRIPT', 'KILL'],
  ['FUNCTION', 'LOAD', "#!lua name=x\nredis.register_function('x', function() return 1 end)"],
  ['FUNCTION', 'FLUSH'],
  ['FCALL', 'x', '0'],
  ['EVALSHA', '0'.repeat(40), '0'],
  ['MODULE', 'LOAD', '/nowhere.so'],
  ['KEYS', '*'],
  ['SCAN', '0'],
  ['RANDOMKEY'],
  ['PUBLISH', 'c', 'x'],
  ['SUBSCRIBE', 'c'],
  ['LATENCY', 'RESET'],
  ['SLOWLOG', 'RESET'],
];
