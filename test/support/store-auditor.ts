/** Sees every key of a test's store, as no user of the product can: for comparing what is there before and after. */
import { Redis } from 'ioredis';

export type Auditor = Redis;

const NAME = 'auditor';

/** Connects as the auditor; start the server with `extraUsers: [openAuditor.user]`. */
export function openAuditor(port: number): Auditor {
  const auditor = new Redis({
    host: '127.0.0.1',
    port,
    username: NAME,
    password: NAME,
    protocol: 2,
    disableClientInfo: true,
  });
  return auditor.on('error', () => {});
}
openAuditor.user = `user ${NAME} on >${NAME} ~* &* +@all`;

/** Every key with what it holds and whether it expires. */
export async function contentsOf(auditor: Auditor): Promise<ReadonlyMap<string, string>> {
  const keys = await auditor.keys('*');
  const entries = await Promise.all(
    keys.map(async (key) => {
      const [held, ttl] = await Promise.all([holds(auditor, key), auditor.pttl(key)]);
      return [key, `${held} ${ttl < 0 ? 'stays' : 'expires'}`] as const;
    }),
  );
  return new Map(entries.toSorted());
}

/** Sorted where the server promises no order. */
async function holds(auditor: Auditor, key: string): Promise<string> {
  const type = await auditor.type(key);
  switch (type) {
    case 'string':
      return `string ${(await auditor.getBuffer(key))?.toString('base64') ?? ''}`;
    case 'hash':
      return `hash ${JSON.stringify(Object.entries(await auditor.hgetall(key)).toSorted())}`;
    case 'set':
      return `set ${JSON.stringify((await auditor.smembers(key)).toSorted())}`;
    case 'list':
      return `list ${JSON.stringify(await auditor.lrange(key, 0, -1))}`;
    case 'zset':
      return `zset ${JSON.stringify(await auditor.zrange(key, '0', '-1', 'WITHSCORES'))}`;
    case 'stream':
      return `stream ${JSON.stringify(await auditor.xrange(key, '-', '+'))}`;
    default:
      return type;
  }
}
