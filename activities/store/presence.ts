/** What a lease and the keys beside it say about a seat. */
import { z } from 'zod';
import type { Presence } from './port.ts';
import { readRecord } from './records/read.ts';

const leaseRecord = z.strictObject({
  schema: z.literal('portcullis/presence/v1'),
  state: z.enum(['idle', 'busy']),
  /** Replica and connection. */
  holder: z.string(),
});

export type PresenceLease = z.infer<typeof leaseRecord>;

/** Absence is only believed when no replica is settling and nobody was seen lately. @throws `record_unreadable` */
export function presenceOf(lease: string, settling: boolean, seen: boolean): Presence {
  if (lease !== '') return readRecord('presence lease', leaseRecord, lease).state;
  return settling || seen ? 'unknown' : 'absent';
}
