/** Reads that every process shares; all of them plain commands, so that the user `reader` needs no scripts. */
import { GLOBAL_KILL_SWITCH, keysOf, type OutputStream } from '../../schemas/keys.ts';
import type { KillSwitch, PairHead, PairRoles } from '../../schemas/pair.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import type { NumberedTaskEvent, TaskSnapshot } from '../../schemas/verify/task.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { StoreConnection } from './connect.ts';
import type { Presence, StoreReader, TaskPage, VerificationPointer } from './port.ts';
import { presenceOf } from './presence.ts';
import { killSwitchRecord, pairHeadRecord, pairRolesRecord } from './records/pair.ts';
import { readOptional, readRecord } from './records/read.ts';
import { verificationPointerRecord, verifyResultRecord } from './records/result.ts';
import { acceptedRequestRecord, taskEventRecord } from './records/task.ts';
import { readSnapshot, SNAPSHOT_FIELDS } from './snapshot.ts';

/** At most this many events or tasks in one answer, whatever is asked for. */
const MAX_PAGE = 1_000;

/** A reader over this connection, whichever user it belongs to. */
export function storeReader(connection: StoreConnection): StoreReader {
  return new RedisReader(connection);
}

export class RedisReader implements StoreReader {
  protected readonly connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.connection = connection;
  }

  async now(): Promise<number> {
    const [seconds, micros] = await this.connection.run((redis) => redis.time());
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  async readRoles(tenant: string, pair: string): Promise<PairRoles | null> {
    return readOptional('role map', pairRolesRecord, await this.get(keysOf(tenant).roles(pair)));
  }

  async readHead(tenant: string, pair: string): Promise<PairHead | null> {
    return readOptional('pair head', pairHeadRecord, await this.get(keysOf(tenant).head(pair)));
  }

  async readTask(tenant: string, task: string): Promise<TaskSnapshot | null> {
    return readSnapshot(
      await this.connection.run((redis) => redis.hmget(keysOf(tenant).task(task), ...SNAPSHOT_FIELDS)),
    );
  }

  async readEvents(
    tenant: string,
    task: string,
    afterSeq: number,
    limit: number,
  ): Promise<readonly NumberedTaskEvent[]> {
    const entries = await this.connection.run((redis) =>
      redis.xrange(keysOf(tenant).taskEvents(task), `${afterSeq + 1}-0`, '+', 'COUNT', page(limit)),
    );
    return entries.map(([id, fields]) => {
      const [, at, , event] = fields;
      return {
        seq: Number.parseInt(id, 10),
        at: Number(at),
        event: readRecord('event', taskEventRecord, event ?? ''),
      };
    });
  }

  async listTasks(tenant: string, pair: string, { limit, before }: TaskPage): Promise<readonly TaskSnapshot[]> {
    const newest = before === null ? '+inf' : `(${before}`;
    const ids = await this.connection.run((redis) =>
      redis.zrange(keysOf(tenant).pairTasks(pair), newest, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, page(limit)),
    );
    const tasks = await Promise.all(ids.map((id) => this.readTask(tenant, id)));
    return tasks.filter((task) => task !== null);
  }

  async readRequest(tenant: string, task: string): Promise<AcceptedRequest | null> {
    return readOptional('accepted request', acceptedRequestRecord, await this.get(keysOf(tenant).request(task)));
  }

  async readResult(tenant: string, task: string): Promise<VerifyResult | null> {
    return readOptional('result', verifyResultRecord, await this.get(keysOf(tenant).result(task)));
  }

  async readVerification(tenant: string, pair: string): Promise<VerificationPointer | null> {
    const text = await this.connection.run((redis) => redis.hget(keysOf(tenant).verification(pair), 'pointer'));
    return readOptional('verification pointer', verificationPointerRecord, text);
  }

  async *readOutput(tenant: string, task: string, stream: OutputStream): AsyncGenerator<Uint8Array> {
    const written = await this.connection.run((redis) => redis.hget(keysOf(tenant).task(task), `${stream}.chunks`));
    // The snapshot goes before the chunks do; then they are read to the first gap.
    const known = written === null ? null : Number(written);
    for (let index = 0; known === null || index < known; index += 1) {
      const chunk = await this.readChunk(tenant, task, stream, index);
      if (chunk !== null) yield chunk;
      else if (known === null) return;
    }
  }

  readChunk(tenant: string, task: string, stream: OutputStream, index: number): Promise<Uint8Array | null> {
    return this.connection.run((redis) => redis.getBuffer(keysOf(tenant).outputChunk(task, stream, index)));
  }

  async readPresence(seat: Seat): Promise<Presence> {
    const keys = keysOf(seat.tenant);
    const [lease, settling, seen] = await this.connection.run((redis) =>
      redis.mget(keys.presence(seat), keys.presenceSettling, keys.presenceSeen(seat)),
    );
    return presenceOf(lease ?? '', typeof settling === 'string', typeof seen === 'string');
  }

  async readKillSwitch(tenant: string): Promise<KillSwitch | null> {
    const texts = await this.connection.run((redis) => redis.mget(GLOBAL_KILL_SWITCH, keysOf(tenant).killSwitch));
    const switches = texts.map((text) => readOptional('kill switch', killSwitchRecord, text));
    return switches.find((one) => one?.on === true) ?? null;
  }

  protected get(key: string): Promise<string | null> {
    return this.connection.run((redis) => redis.get(key));
  }
}

function page(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw portcullisError('schema_invalid', { path: 'limit', reason: 'must be a whole number of at least 1' });
  }
  return Math.min(limit, MAX_PAGE);
}
