/** The operator API's calls that read what was kept: the audit chain and the ring of lifecycle events. They write nothing. */
import type { AuditHead, SignedAuditEntry } from './audit.ts';
import type { LifecycleEvent } from './workspace/lifecycle.ts';

const ROOT = '/v1/operator';

/** Both take the query `limit` (1 to 500, else 100) and `after`: the number that the first one follows; without it the newest. */
export const RECORDS_PATHS = {
  /** GET → {@link AuditPageAnswer} */
  audit: `${ROOT}/audit`,
  /** GET → {@link EventPageAnswer} */
  events: `${ROOT}/events`,
} as const;

/** Most that one answer holds. */
export const RECORDS_PAGE = 500;

export interface AuditPageAnswer {
  readonly schema: 'portcullis/audit-page/v1';
  /** Where the chain stood when the page was read: nothing of the page lies beyond it. */
  readonly head: AuditHead;
  /** By their numbers, without a gap unless an entry is missing. */
  readonly items: readonly SignedAuditEntry[];
  /** Numbers of entries on the page that are there and cannot be read. */
  readonly unreadable: readonly number[];
}

export interface EventPageAnswer {
  readonly schema: 'portcullis/event-page/v1';
  /** The newest that there is; 0 for none. */
  readonly lastSeq: number;
  /** How many the ring has dropped. */
  readonly fellOff: number;
  readonly items: readonly LifecycleEvent[];
}
