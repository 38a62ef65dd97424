/** Workspaces in the store: their projections, the ring of their events, recoveries, incidents, slots. */
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import type { PairRoles } from '../../schemas/pair.ts';
import type { LifecycleWrite } from '../../schemas/workspace/activities.ts';
import type { IncidentRecord, RecoveryRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import type { StoreConnection } from './connect.ts';
import {
  EVENT_RING_CAP,
  type EventPage,
  type LifecycleReader,
  type LifecycleStore,
  type SeatedWorkspace,
} from './lifecycle-port.ts';
import {
  incidentRecord,
  lifecycleDraft,
  recoveryRecord,
  slotsRecord,
  suspectsRecord,
  workspaceRecord,
} from './records/lifecycle.ts';
import { pairRolesRecord } from './records/pair.ts';
import { readOptional, readRecord, recordText } from './records/read.ts';
import { APPEND_LIFECYCLE, RECORD_WORKSPACE, REPLACE_ROLES, WRITE_INCIDENT } from './scripts/lifecycle.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

const KEPT_MS = 90 * 86_400_000;
const MAX_PAGE = 1_000;

/** A reader over this connection, whichever user it belongs to. */
export function lifecycleReader(connection: StoreConnection): LifecycleReader {
  return new RedisLifecycleReader(connection);
}

/** Needs a connection of the user `control`. `ringCap` is smaller in tests alone. */
export function lifecycleStore(connection: StoreConnection, ringCap: number = EVENT_RING_CAP): LifecycleStore {
  return new RedisLifecycleStore(connection, ringCap);
}

class RedisLifecycleReader implements LifecycleReader {
  protected readonly connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.connection = connection;
  }

  async readWorkspace(tenant: string, id: string): Promise<WorkspaceRecord | null> {
    const text = await this.connection.run((redis) => redis.hget(keysOf(tenant).workspace(id), 'record'));
    return readOptional('workspace', workspaceRecord, text);
  }

  async listWorkspaces(tenant: string, limit: number): Promise<readonly WorkspaceRecord[]> {
    const most = Math.min(limit, MAX_PAGE);
    const ids = await this.connection.run((redis) =>
      redis.zrange(keysOf(tenant).workspaces, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most),
    );
    return await this.present(tenant, ids);
  }

  async listOpenWorkspaces(tenant: string): Promise<readonly WorkspaceRecord[]> {
    const ids = await this.connection.run((redis) => redis.smembers(keysOf(tenant).openWorkspaces));
    return await this.present(tenant, ids.toSorted());
  }

  async readEventRing(tenant: string, afterSeq: number, limit: number): Promise<EventPage> {
    const ring = keysOf(tenant).eventRing;
    const [entries, newest, length] = await Promise.all([
      this.connection.run((redis) =>
        redis.xrange(ring, `${afterSeq + 1}-0`, '+', 'COUNT', Math.max(1, Math.min(limit, MAX_PAGE))),
      ),
      this.connection.run((redis) => redis.xrevrange(ring, '+', '-', 'COUNT', 1)),
      this.connection.run((redis) => redis.xlen(ring)),
    ]);
    const lastSeq = Number.parseInt(newest[0]?.[0] ?? '0', 10);
    const events = entries.map(([id, fields]) => {
      const [, at, , event] = fields;
      return {
        seq: Number.parseInt(id, 10),
        at: Number(at),
        ...readRecord('lifecycle event', lifecycleDraft, event ?? ''),
      };
    });
    return { events, lastSeq, fellOff: Math.max(0, lastSeq - length) };
  }

  async listRecoveries(tenant: string): Promise<readonly RecoveryRecord[]> {
    const byRun = await this.connection.run((redis) => redis.hgetall(keysOf(tenant).flowRecovery));
    return Object.values(byRun).map((text) => readRecord('recovery', recoveryRecord, text));
  }

  async readIncident(tenant: string, id: string): Promise<IncidentRecord | null> {
    const text = await this.connection.run((redis) => redis.get(keysOf(tenant).incident(id)));
    return readOptional('incident', incidentRecord, text);
  }

  async listIncidents(tenant: string, limit: number): Promise<readonly IncidentRecord[]> {
    const most = Math.min(limit, MAX_PAGE);
    const ids = await this.connection.run((redis) =>
      redis.zrange(keysOf(tenant).incidents, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most),
    );
    const incidents = await Promise.all(ids.map((id) => this.readIncident(tenant, id)));
    return incidents.filter((incident) => incident !== null);
  }

  async readSlots(tenant: string, role: WorkspaceRole): Promise<SlotsView | null> {
    const text = await this.connection.run((redis) => redis.get(keysOf(tenant).slots(role)));
    return readOptional('slots', slotsRecord, text);
  }

  private async present(tenant: string, ids: readonly string[]): Promise<readonly WorkspaceRecord[]> {
    const records = await Promise.all(ids.map((id) => this.readWorkspace(tenant, id)));
    return records.filter((record) => record !== null);
  }
}

class RedisLifecycleStore extends RedisLifecycleReader implements LifecycleStore {
  private readonly ringCap: number;

  constructor(connection: StoreConnection, ringCap: number) {
    super(connection);
    this.ringCap = ringCap;
  }

  async recordLifecycle({ tenant, source, n, record, events }: LifecycleWrite): Promise<void> {
    const keys = keysOf(tenant);
    const [event1 = '', event2 = '', event3 = ''] = events.map(recordText);
    const said = { cap: this.ringCap, event1, event2, event3 };
    if (record === null) {
      await runScript(this.connection, APPEND_LIFECYCLE, { ring: keys.eventRing }, said);
      return;
    }
    const words = await runScript(
      this.connection,
      RECORD_WORKSPACE,
      {
        workspace: keys.workspace(record.id),
        index: keys.workspaces,
        open: keys.openWorkspaces,
        ring: keys.eventRing,
      },
      {
        ...said,
        id: record.id,
        source,
        n,
        recordText: recordText(record),
        isOpen: record.endedAt === null ? '1' : '',
        keepMs: KEPT_MS,
      },
    );
    if (words[0] !== 'written' && words[0] !== 'repeated') unexpectedReply(words);
  }

  async openRecovery(tenant: string, record: RecoveryRecord): Promise<void> {
    await this.connection.run((redis) => redis.hset(keysOf(tenant).flowRecovery, record.run, recordText(record)));
  }

  async closeRecovery(tenant: string, run: string): Promise<void> {
    await this.connection.run((redis) => redis.hdel(keysOf(tenant).flowRecovery, run));
  }

  async writeIncident(tenant: string, record: IncidentRecord): Promise<void> {
    const keys = keysOf(tenant);
    await runScript(
      this.connection,
      WRITE_INCIDENT,
      { incident: keys.incident(record.id), index: keys.incidents },
      { id: record.id, openedAt: record.openedAt, recordText: recordText(record) },
    );
  }

  async writeSlots(tenant: string, view: SlotsView): Promise<void> {
    await this.connection.run((redis) => redis.set(keysOf(tenant).slots(view.role), recordText(view)));
  }

  async seatWorkspace(tenant: string, pair: string, role: ExecutorRole, seated: SeatedWorkspace): Promise<void> {
    const key = keysOf(tenant).roles(pair);
    for (;;) {
      const readText = await this.connection.run((redis) => redis.get(key));
      if (readText === null) throw portcullisError('not_found', { what: 'pair', id: pair });
      const roles = readRecord('role map', pairRolesRecord, readText);
      const current = roles.workspaces[role];
      if (current?.name === seated.name && current.generation === seated.generation) return;
      if (current !== undefined && current.generation >= seated.generation) {
        throw portcullisError('state_conflict', { what: `the ${role} workspace of the pair` });
      }
      const moved: PairRoles = { ...roles, workspaces: { ...roles.workspaces, [role]: seated } };
      const texts = { readText, rolesText: recordText(moved) };
      const [answer] = await runScript(this.connection, REPLACE_ROLES, { roles: key }, texts);
      if (answer === 'replaced') return;
    }
  }

  async readSuspects(tenant: string): Promise<readonly string[]> {
    const text = await this.connection.run((redis) => redis.get(keysOf(tenant).reconcileSuspects));
    return readOptional('suspects', suspectsRecord, text) ?? [];
  }

  async writeSuspects(tenant: string, suspects: readonly string[]): Promise<void> {
    await this.connection.run((redis) => redis.set(keysOf(tenant).reconcileSuspects, recordText(suspects)));
  }
}
