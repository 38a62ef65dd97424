/**
 * From what an index names and the store holds to the items of an evidence set. Nothing is dropped: a record that is missing,
 * altered or malformed becomes an item that says so, and the gate is `blocked`.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import type { Digest } from '../../schemas/digest.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { evidenceDigest, type EvidenceItem, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';

/** One entry of an index with what was found under it; `null` when nothing was. */
export interface FoundRecord {
  readonly digest: Digest<'evidence' | 'finding'>;
  readonly found: JsonValue | null;
}

export function readFoundRecord({ digest, found }: FoundRecord): EvidenceItem {
  if (found === null) return { digest, record: null, problem: 'missing' };
  let record: EvidenceRecord;
  let actual: Digest<'evidence' | 'finding'>;
  try {
    record = readEvidenceRecord(found);
    actual = evidenceDigest(record);
  } catch (error) {
    if (!(error instanceof PortcullisError)) throw error;
    return { digest, record: null, problem: 'malformed' };
  }
  return actual === digest ? { digest, record, problem: null } : { digest, record: null, problem: 'tampered' };
}
