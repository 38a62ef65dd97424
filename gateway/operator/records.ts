/** What was kept, as an operator reads it: a page of the audit chain, a page of the ring of lifecycle events. */
import { readAuditEntry, readAuditHead } from '../../activities/store/audit-chain.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { lifecycleReader } from '../../activities/store/lifecycle.ts';
import type { SignedAuditEntry } from '../../schemas/audit.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { RECORDS_PAGE, type AuditPageAnswer, type EventPageAnswer } from '../../schemas/records-api.ts';

export interface PageQuery {
  /** The number that the first one follows; `null` for the newest. */
  readonly after: number | null;
  readonly limit: number;
}

/** @throws `schema_invalid` */
export function pageQuery(query: URLSearchParams): PageQuery {
  const after = query.get('after');
  const limit = query.get('limit') ?? '100';
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > RECORDS_PAGE) {
    throw portcullisError('schema_invalid', { path: 'limit', reason: `must be from 1 to ${RECORDS_PAGE}` });
  }
  if (after !== null && !/^\d{1,15}$/.test(after)) {
    throw portcullisError('schema_invalid', { path: 'after', reason: 'must be the number of an entry, or 0' });
  }
  return { after: after === null ? null : Number(after), limit: Number(limit) };
}

/** An entry that is missing or cannot be read does not keep the others from being seen. */
export async function auditPage(
  reader: StoreConnection,
  tenant: string,
  { after, limit }: PageQuery,
): Promise<AuditPageAnswer> {
  const head = await readAuditHead(reader, tenant);
  const first = (after ?? Math.max(0, head.n - limit)) + 1;
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, head.n - first + 1)) }, (_, index) => first + index);
  const read = await Promise.all(numbers.map(async (n) => ({ n, entry: await entryAt(reader, tenant, n) })));
  return {
    schema: 'portcullis/audit-page/v1',
    head,
    items: read.flatMap(({ entry }) => (entry === null || entry === 'unreadable' ? [] : [entry])),
    unreadable: read.filter(({ entry }) => entry === 'unreadable').map(({ n }) => n),
  };
}

async function entryAt(
  reader: StoreConnection,
  tenant: string,
  n: number,
): Promise<SignedAuditEntry | null | 'unreadable'> {
  try {
    return await readAuditEntry(reader, tenant, n);
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'record_unreadable') return 'unreadable';
    throw thrown;
  }
}

export async function eventPage(
  reader: StoreConnection,
  tenant: string,
  { after, limit }: PageQuery,
): Promise<EventPageAnswer> {
  const ring = lifecycleReader(reader);
  const from = after ?? Math.max(0, (await ring.readEventRing(tenant, 0, 1)).lastSeq - limit);
  const { events, lastSeq, fellOff } = await ring.readEventRing(tenant, from, limit);
  return { schema: 'portcullis/event-page/v1', lastSeq, fellOff, items: events };
}
