/** The store as the control worker has it (user `control`). */
import type { AuditHead, SignedAuditEntry } from '../../schemas/audit.ts';
import type { ClaimCodeRecord, CredentialRecord } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { GLOBAL_KILL_SWITCH, keysOf } from '../../schemas/keys.ts';
import type { KillSwitch, PairHead, PairRoles } from '../../schemas/pair.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import { appendAudit, appendAuditOnce, readAuditEntry, readAuditHead, type MakeEntry } from './audit-chain.ts';
import { confirmStarted } from './claims.ts';
import type { StoreConnection } from './connect.ts';
import { endTask } from './ending.ts';
import { appendEvent } from './events.ts';
import type { ControlStore, Ending, EventSource, Place } from './port.ts';
import { presenceOf } from './presence.ts';
import { RedisReader } from './reader.ts';
import { credentialRecord } from './records/pair.ts';
import { readRecord, recordText } from './records/read.ts';
import { REVOKE_CREDENTIAL, WRITE_CREDENTIAL, WRITE_KILL_SWITCH } from './scripts/credential.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { LEAVE_PLACE, TAKE_PLACE } from './scripts/seat.ts';

/** How long a credential stays readable after it expired, so that a late caller is told "expired" and not "unknown". */
const CREDENTIAL_KEPT_MS = 30 * 86_400_000;

/** Needs a connection of the user `control`. */
export function controlStore(connection: StoreConnection): ControlStore {
  return new RedisControlStore(connection);
}

class RedisControlStore extends RedisReader implements ControlStore {
  async takePlace(seat: Seat, workflowId: string): Promise<Place> {
    const keys = keysOf(seat.tenant);
    const words = await runScript(
      this.connection,
      TAKE_PLACE,
      {
        line: keys.queue(seat),
        lease: keys.presence(seat),
        settling: keys.presenceSettling,
        seen: keys.presenceSeen(seat),
      },
      { workflowId },
    );
    const [rank, lease, settling, seen] = words;
    if (rank === undefined || lease === undefined) return unexpectedReply(words);
    return { rank: Number(rank), presence: presenceOf(lease, settling === '1', seen === '1') };
  }

  async leavePlace(seat: Seat, workflowId: string): Promise<string | null> {
    const keys = keysOf(seat.tenant);
    const [first] = await runScript(
      this.connection,
      LEAVE_PLACE,
      { line: keys.queue(seat), started: keys.queueStarted(seat) },
      { workflowId },
    );
    return first === undefined || first === '' ? null : first;
  }

  appendEvent(tenant: string, task: string, from: EventSource, event: TaskEvent): Promise<number | null> {
    return appendEvent(this.connection, tenant, task, from, event);
  }

  confirmStarted(accepted: AcceptedRequest): Promise<void> {
    return confirmStarted(this.connection, accepted);
  }

  endTask(ending: Ending): Promise<void> {
    return endTask(this.connection, ending);
  }

  async writeRoles(tenant: string, roles: PairRoles): Promise<void> {
    await this.connection.run((redis) => redis.set(keysOf(tenant).roles(roles.pair), recordText(roles)));
  }

  async writeHead(tenant: string, head: PairHead): Promise<void> {
    await this.connection.run((redis) => redis.set(keysOf(tenant).head(head.pair), recordText(head)));
  }

  async writeCredential(
    record: CredentialRecord,
    claimCode: { readonly codeHex: string; readonly record: ClaimCodeRecord } | null,
  ): Promise<void> {
    const keys = keysOf(record.tenant);
    const credential = keys.credential(record.id);
    const inPair = record.pair !== '';
    const [answer] = await runScript(
      this.connection,
      WRITE_CREDENTIAL,
      {
        credential,
        // Every key has to be named; the one that is not needed names the record and is left alone.
        pairSet: inPair ? keys.pairCredentials(record.pair) : credential,
        code: claimCode === null ? credential : keys.claimCode(claimCode.codeHex),
      },
      {
        id: record.id,
        recordText: recordText(record),
        keepUntil: record.expiresAt + CREDENTIAL_KEPT_MS,
        inPair: inPair ? '1' : '',
        codeText: claimCode === null ? '' : recordText(claimCode.record),
      },
    );
    if (answer === 'conflict') throw portcullisError('state_conflict', { what: `The credential ${record.id}` });
  }

  pairCredentials(tenant: string, pair: string): Promise<readonly string[]> {
    return this.connection.run((redis) => redis.smembers(keysOf(tenant).pairCredentials(pair)));
  }

  revokeCredential(tenant: string, id: string): Promise<void> {
    return this.#refuseCredential(tenant, id, true);
  }

  retireCredential(tenant: string, id: string): Promise<void> {
    return this.#refuseCredential(tenant, id, false);
  }

  async #refuseCredential(tenant: string, id: string, isWithdrawn: boolean): Promise<void> {
    const keys = keysOf(tenant);
    for (;;) {
      const readText = await this.get(keys.credential(id));
      if (readText === null) throw portcullisError('not_found', { what: 'credential', id });
      const record = readRecord('credential', credentialRecord, readText);
      if (record.state === 'revoked') return;
      const [answer] = await runScript(
        this.connection,
        REVOKE_CREDENTIAL,
        { credential: keys.credential(id), epoch: keys.authorityEpoch },
        {
          readText,
          recordText: recordText({ ...record, state: 'revoked' }),
          keepUntil: record.expiresAt + CREDENTIAL_KEPT_MS,
          raise: isWithdrawn ? 1 : 0,
        },
      );
      if (answer === 'revoked') return;
    }
  }

  async writeKillSwitch(tenant: string | null, value: KillSwitch): Promise<void> {
    const text = recordText(value);
    if (tenant === null) {
      // The installation's switch is read at every admission, so no tenant's epoch has to say that it changed.
      await this.connection.run((redis) => redis.set(GLOBAL_KILL_SWITCH, text));
      return;
    }
    const keys = keysOf(tenant);
    await runScript(
      this.connection,
      WRITE_KILL_SWITCH,
      { switch: keys.killSwitch, epoch: keys.authorityEpoch },
      { text },
    );
  }

  appendAudit(tenant: string, audit: MakeEntry): Promise<AuditHead> {
    return appendAudit(this.connection, tenant, audit);
  }

  appendAuditOnce(tenant: string, audit: MakeEntry): Promise<void> {
    return appendAuditOnce(this.connection, tenant, audit);
  }

  readAuditHead(tenant: string): Promise<AuditHead> {
    return readAuditHead(this.connection, tenant);
  }

  readAuditEntry(tenant: string, n: number): Promise<SignedAuditEntry | null> {
    return readAuditEntry(this.connection, tenant, n);
  }
}
