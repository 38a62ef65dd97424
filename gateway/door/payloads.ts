/** What an executor sends beside its token, held against its schema before any of it can reach a history. */
import proto from '@temporalio/proto';
import { isErrorCode, portcullisError } from '../../schemas/errors.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import {
  executorReportSchema,
  heartbeatDetailsSchema,
  MAX_HEARTBEAT_BYTES,
  REPORT_LIMITS,
} from '../../schemas/verify/report.schema.ts';
import { parsed } from '../http/body.ts';
import { WireMessage } from './wire.ts';

/** Fields of the messages, by number (temporal/api/common/v1 and failure/v1). */
const PAYLOADS = { payloads: 1 };
const PAYLOAD = { metadata: 1, data: 2 };
const METADATA_ENTRY = { key: 1, value: 2 };

const MAX_FAILURE_CHARS = 1024;

/** The bytes of `Payloads` must hold exactly one report. @throws `schema_invalid`, `body_too_large`, `json_…` */
export function checkReport(payloads: WireMessage): void {
  payloads.permitOnly(Object.values(PAYLOADS));
  const [only, ...more] = payloads.everyOf(PAYLOADS.payloads);
  if (only === undefined || more.length > 0) refuse('result', 'must be exactly one report');
  const { encoding, json } = readPayload(new WireMessage(only));
  if (encoding !== 'json/plain') refuse('result', 'must be plain JSON');
  parsed(executorReportSchema, readStrictJson(json, { maxBytes: REPORT_LIMITS.bytes, maxDepth: 8 }));
}

/** The bytes of `Payloads` hold nothing, or the details of a heartbeat. @throws as {@link checkReport} */
export function checkHeartbeatDetails(payloads: WireMessage): void {
  payloads.permitOnly(Object.values(PAYLOADS));
  const [only, ...more] = payloads.everyOf(PAYLOADS.payloads);
  if (more.length > 0) refuse('details', 'must be one object at most');
  if (only === undefined) return;
  const { encoding, json } = readPayload(new WireMessage(only));
  // What the SDK makes of `undefined`.
  if (encoding === 'binary/null' && json.length === 0) return;
  if (encoding !== 'json/plain') refuse('details', 'must be plain JSON');
  parsed(heartbeatDetailsSchema, readStrictJson(json, { maxBytes: MAX_HEARTBEAT_BYTES, maxDepth: 4 }));
}

function readPayload(payload: WireMessage): { readonly encoding: string; readonly json: Uint8Array } {
  payload.permitOnly(Object.values(PAYLOAD));
  const [entry, ...more] = payload.everyOf(PAYLOAD.metadata);
  if (entry === undefined || more.length > 0) refuse('payload', 'must have one metadata entry, its encoding');
  const metadata = new WireMessage(entry);
  metadata.permitOnly(Object.values(METADATA_ENTRY));
  if (metadata.textOf(METADATA_ENTRY.key) !== 'encoding') refuse('payload', 'must name its encoding');
  return { encoding: metadata.textOf(METADATA_ENTRY.value), json: payload.bytesOf(PAYLOAD.data) };
}

/**
 * A failure as it goes upstream: code and a bounded sentence. Stack, causes and details stay behind; they could carry output
 * or secrets, and nothing decides on them.
 */
export function boundedFailure(failure: WireMessage): Buffer {
  const { message, applicationFailureInfo } = decodeFailure(failure.bytes);
  const type = applicationFailureInfo?.type ?? '';
  return encodeFailure(isErrorCode(type) ? type : 'internal', message);
}

/** A failure of ours: what the door tells Temporal when a task cannot go on. */
export function encodeFailure(type: string, message: string): Buffer {
  const { Failure } = proto.temporal.api.failure.v1;
  return Buffer.from(
    Failure.encode({
      message: message.toWellFormed().replaceAll('\0', '').slice(0, MAX_FAILURE_CHARS).toWellFormed(),
      source: 'portcullis',
      applicationFailureInfo: { type, nonRetryable: true },
    }).finish(),
  );
}

function decodeFailure(bytes: Uint8Array): ReturnType<typeof proto.temporal.api.failure.v1.Failure.decode> {
  try {
    return proto.temporal.api.failure.v1.Failure.decode(bytes);
  } catch (thrown) {
    throw portcullisError('schema_invalid', { path: 'failure', reason: 'cannot be read' }, thrown);
  }
}

function refuse(path: string, reason: string): never {
  throw portcullisError('schema_invalid', { path, reason });
}
