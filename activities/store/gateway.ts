/** The store as the gateway has it (user `gateway`). */
import type { CredentialRecord } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf, type OutputStream } from '../../schemas/keys.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import { isTerminalTaskState, type TaskEvent } from '../../schemas/verify/task.ts';
import { admit, confirmStarted, releaseClaim, viewClaim } from './claims.ts';
import type { StoreConnection } from './connect.ts';
import { appendEvent } from './events.ts';
import type { Admission, AdmissionOutcome, EventSource, GatewayStore, Rejection } from './port.ts';
import type { PresenceLease } from './presence.ts';
import { RedisReader } from './reader.ts';
import { claimCodeRecord, credentialRecord } from './records/pair.ts';
import { readOptional, readRecord, recordText } from './records/read.ts';
import { memoryUseOf, parseInfo } from './safety.ts';
import { WRITE_CHUNK } from './scripts/chunk.ts';
import { CONSUME_CODE } from './scripts/credential.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { DROP_PRESENCE, HOLD_PRESENCE, PRESENCE_MS, RECORD_STARTED } from './scripts/seat.ts';

/** Kept of each stream of a task (spec/store.md), and how many pieces it may come in. */
export const OUTPUT_LIMITS = { bytes: 1024 * 1024, chunks: 4096 } as const;
/** Refusals kept; older ones fall off. */
const MAX_REJECTIONS = 10_000;
const MAX_REJECTED_INPUT_BYTES = 256;

/** Needs a connection of the user `gateway`. */
export function gatewayStore(connection: StoreConnection): GatewayStore {
  return new RedisGatewayStore(connection);
}

class RedisGatewayStore extends RedisReader implements GatewayStore {
  async readCredential(tenant: string, id: string): Promise<CredentialRecord | null> {
    return readOptional('credential', credentialRecord, await this.get(keysOf(tenant).credential(id)));
  }

  async consumeClaimCode(tenant: string, codeHex: string): Promise<CredentialRecord> {
    const keys = keysOf(tenant);
    const code = keys.claimCode(codeHex);
    const codeText = await this.get(code);
    if (codeText === null) throw portcullisError('claim_code_invalid');
    const credential = keys.credential(readRecord('claim code', claimCodeRecord, codeText).credentialId);
    const used = keys.claimCodeUsed(codeHex);
    const words = await runScript(this.connection, CONSUME_CODE, { code, used, credential }, { codeText });
    const [answer, text] = words;
    if (answer === 'invalid') throw portcullisError('claim_code_invalid');
    if (answer !== 'claimed' || text === undefined) return unexpectedReply(words);
    return readRecord('credential', credentialRecord, text);
  }

  viewClaim(tenant: string, pair: string, requestDigest: AcceptedRequest['requestDigest']) {
    return viewClaim(this.connection, tenant, pair, requestDigest);
  }

  async admit(admission: Admission): Promise<AdmissionOutcome> {
    const outcome = await admit(this.connection, admission);
    if (outcome.kind !== 'joined' || outcome.state !== '') return outcome;
    const task = await this.readTask(admission.accepted.request.tenant, outcome.taskId);
    return { ...outcome, state: task === null || isTerminalTaskState(task.state) ? (task?.outcome ?? 'gone') : 'open' };
  }

  confirmStarted(accepted: AcceptedRequest): Promise<void> {
    return confirmStarted(this.connection, accepted);
  }

  releaseClaim(accepted: AcceptedRequest, message: string): Promise<void> {
    return releaseClaim(this.connection, accepted, message);
  }

  async unconfirmedClaims(tenant: string, olderThanMs: number, limit: number): Promise<readonly AcceptedRequest[]> {
    const until = (await this.now()) - olderThanMs;
    const ids = await this.connection.run((redis) =>
      redis.zrange(keysOf(tenant).acceptedClaims, '-inf', String(until), 'BYSCORE', 'LIMIT', 0, limit),
    );
    const requests = await Promise.all(ids.map((id) => this.readRequest(tenant, id)));
    return requests.filter((request) => request !== null);
  }

  appendEvent(tenant: string, task: string, from: EventSource, event: TaskEvent): Promise<number | null> {
    return appendEvent(this.connection, tenant, task, from, event);
  }

  async writeChunk(
    tenant: string,
    task: string,
    stream: OutputStream,
    index: number,
    bytes: Uint8Array,
  ): Promise<boolean> {
    if (!Number.isSafeInteger(index) || index < 0 || index >= OUTPUT_LIMITS.chunks) {
      throw portcullisError('limit', { reason: `a chunk's index is at most ${OUTPUT_LIMITS.chunks - 1}` });
    }
    const keys = keysOf(tenant);
    const words = await runScript(
      this.connection,
      WRITE_CHUNK,
      { chunk: keys.outputChunk(task, stream, index), task: keys.task(task) },
      { bytes, size: bytes.length, count: index + 1, stream, maxBytes: OUTPUT_LIMITS.bytes },
    );
    switch (words[0]) {
      case 'written':
      case 'same':
        return true;
      case 'other':
        return false;
      case 'ended':
        throw portcullisError('state_conflict', { what: 'The task, which has ended,' });
      case 'missing':
        throw portcullisError('not_found', { what: 'task', id: task });
      case 'full':
        throw portcullisError('limit', { reason: `a stream keeps ${OUTPUT_LIMITS.bytes} bytes` });
      default:
        return unexpectedReply(words);
    }
  }

  async holdPresence(seat: Seat, state: 'idle' | 'busy', holder: string): Promise<void> {
    const keys = keysOf(seat.tenant);
    const lease: PresenceLease = { schema: 'portcullis/presence/v1', state, holder };
    await runScript(
      this.connection,
      HOLD_PRESENCE,
      { lease: keys.presence(seat), seen: keys.presenceSeen(seat) },
      { leaseText: recordText(lease) },
    );
  }

  async dropPresence(seat: Seat, holder: string): Promise<void> {
    const keys = keysOf(seat.tenant);
    await runScript(
      this.connection,
      DROP_PRESENCE,
      { lease: keys.presence(seat), seen: keys.presenceSeen(seat) },
      { holder },
    );
  }

  async beginSettling(tenant: string): Promise<void> {
    await this.connection.run((redis) => redis.set(keysOf(tenant).presenceSettling, '1', 'PX', PRESENCE_MS.settling));
  }

  async recordStarted(seat: Seat, workflowId: string, bootId: string): Promise<void> {
    const keys = keysOf(seat.tenant);
    await runScript(
      this.connection,
      RECORD_STARTED,
      { line: keys.queue(seat), started: keys.queueStarted(seat) },
      { workflowId, bootId },
    );
  }

  async startedByOthers(seat: Seat, bootId: string): Promise<readonly string[]> {
    const started = await this.connection.run((redis) => redis.hgetall(keysOf(seat.tenant).queueStarted(seat)));
    return Object.entries(started).flatMap(([workflowId, boot]) => (boot === bootId ? [] : [workflowId]));
  }

  async recordRejection(tenant: string, rejection: Rejection): Promise<void> {
    const text = recordText({ schema: 'portcullis/rejection/v1', ...rejection, input: firstBytes(rejection.input) });
    await this.connection.run((redis) =>
      redis.xadd(keysOf(tenant).rejected, 'MAXLEN', '~', MAX_REJECTIONS, '*', 'rejection', text),
    );
  }

  async memoryUse(): Promise<number> {
    return memoryUseOf(parseInfo(await this.connection.run((redis) => redis.info('memory'))));
  }
}

/** The first bytes of what was sent, whole characters only, so that they can be stored as text. */
function firstBytes(input: string): string {
  const bytes = Buffer.from(input.toWellFormed()).subarray(0, MAX_REJECTED_INPUT_BYTES);
  return new TextDecoder().decode(bytes, { stream: true });
}
