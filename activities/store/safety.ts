/** Whether a server keeps what it acknowledges (DESIGN section 2): judged from what it says about itself. */
import type { Redis } from 'ioredis';

export interface SafetyFinding {
  readonly code:
    | 'version'
    | 'appendonly'
    | 'appendfsync'
    | 'appendfsync_on_rewrite'
    | 'eviction'
    | 'cluster'
    | 'default_user'
    | 'memory_low'
    | 'memory_unbounded'
    | 'write_failing';
  /** `unsafe`: nothing it acknowledges can be believed. `warning`: an operator should look. */
  readonly severity: 'unsafe' | 'warning';
  readonly detail: string;
}

/** What a server says: the sections of INFO as one list of names, and the settings that INFO does not show. */
export interface ServerStatement {
  readonly info: ReadonlyMap<string, string>;
  readonly config: ReadonlyMap<string, string>;
  /** Whether the user `default` may run what the append-only file holds; `null` when the server does not say. */
  readonly defaultMayWrite: boolean | null;
}

/** At this fraction of maxmemory admission refuses (`store_full`) and `doctor` complains. */
export const MEMORY_LIMIT = 0.8;

const ASKED_SETTINGS = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'maxmemory-policy'] as const;

/** Asks the server. INFO does not show `appendfsync`, so every user may use CONFIG GET. */
export async function askServer(redis: Redis): Promise<ServerStatement> {
  const [info, ...settings] = await Promise.all([
    redis.info(),
    ...ASKED_SETTINGS.map((name) => redis.call('CONFIG', 'GET', name)),
  ]);
  return {
    info: parseInfo(info),
    config: new Map(settings.flatMap(pairs)),
    defaultMayWrite: await defaultMayWrite(redis),
  };
}

/** Asked without running anything: the commands that scripts leave in the append-only file. */
async function defaultMayWrite(redis: Redis): Promise<boolean | null> {
  const key = 'ns:local:a2a:x';
  const commands = [
    ['SETNX', key, '1'],
    ['XADD', key, '*', 'a', '1'],
    ['HSET', key, 'a', '1'],
    ['DEL', key],
  ];
  const asked = commands.map((command) => redis.call('ACL', 'DRYRUN', 'default', ...command));
  const answers = await Promise.allSettled(asked);
  if (answers.some(({ status }) => status === 'rejected')) return null;
  return answers.every((answer) => answer.status === 'fulfilled' && String(answer.value) === 'OK');
}

/** Everything that is wrong, worst first. */
export function judgeServer({ info, config, defaultMayWrite }: ServerStatement): readonly SafetyFinding[] {
  const findings: SafetyFinding[] = [];
  const unsafe = (code: SafetyFinding['code'], detail: string) => findings.push({ code, severity: 'unsafe', detail });
  const warn = (code: SafetyFinding['code'], detail: string) => findings.push({ code, severity: 'warning', detail });
  const setting = (name: string) => config.get(name) ?? '(not shown)';

  const version = info.get('redis_version') ?? '0';
  if (Number.parseInt(version, 10) < 7) unsafe('version', `the server speaks version ${version}, needed is 7.0`);
  // What runs counts, not what was asked for: a server can fail to open its append-only file.
  if (setting('appendonly') !== 'yes' || info.get('aof_enabled') !== '1') {
    unsafe('appendonly', `appendonly is ${setting('appendonly')}`);
  }
  if (setting('appendfsync') !== 'always') unsafe('appendfsync', `appendfsync is ${setting('appendfsync')}`);
  if (setting('no-appendfsync-on-rewrite') !== 'no') {
    unsafe('appendfsync_on_rewrite', 'no-appendfsync-on-rewrite is not no');
  }
  if (setting('maxmemory-policy') !== 'noeviction') {
    unsafe('eviction', `maxmemory-policy is ${setting('maxmemory-policy')}`);
  }
  if (info.get('cluster_enabled') !== '0') unsafe('cluster', 'cluster mode is on');
  if (defaultMayWrite === false) {
    unsafe('default_user', 'the user default may not write, so loading the append-only file can drop transactions');
  }
  if (info.get('aof_last_write_status') === 'err')
    warn('write_failing', 'the last write of the append-only file failed');
  if (Number(info.get('maxmemory') ?? 0) === 0) warn('memory_unbounded', 'maxmemory is not set');
  const use = memoryUseOf(info);
  if (use > MEMORY_LIMIT) warn('memory_low', `${Math.round(use * 100)} % of maxmemory is used`);
  return findings;
}

/** Fraction of maxmemory in use; of the machine's memory when maxmemory is not set. */
export function memoryUseOf(info: ReadonlyMap<string, string>): number {
  const used = Number(info.get('used_memory') ?? 0);
  const maximum = Number(info.get('maxmemory') ?? 0) || Number(info.get('total_system_memory') ?? 0);
  return maximum === 0 ? 0 : used / maximum;
}

/** `name:value` lines of INFO. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return line.startsWith('#') || colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** A reply of CONFIG GET: name, value, name, value. */
function pairs(reply: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(reply)) return [];
  const words = reply.map(String);
  return words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ''] as const] : []));
}
