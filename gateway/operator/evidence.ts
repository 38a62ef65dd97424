/** Records of evidence and findings as an operator looks at them. Every digest is made again at each look. */
import { familyOf } from '../../activities/store/evidence.ts';
import type { GateReader, NamedRecord } from '../../activities/store/gate-port.ts';
import { parseDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import {
  FINDINGS_LISTED,
  type EvidenceAnswer,
  type FiledFindingEntry,
  type FindingsAnswer,
} from '../../schemas/gate/evidence-api.ts';
import type { EvidenceItem, EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { DispositionRecord } from '../../schemas/gate/finding.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import { EVIDENCE_FAMILIES, keysOf } from '../../schemas/keys.ts';
import { checkedName } from '../../schemas/names.ts';

/** @param ticket in whose index a record of a check is looked for. @throws `not_found`, `schema_invalid` for what is no digest */
export async function showEvidence(
  reader: GateReader,
  tenant: string,
  id: string,
  ticket: string | null,
): Promise<EvidenceAnswer> {
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/.exec(id)?.[1];
  if (hex === undefined) throw portcullisError('schema_invalid', { path: 'digest', reason: 'is not a digest' });
  const digest = parseDigest('evidence', `sha256:${hex}`);
  const named = EVIDENCE_FAMILIES.map((family): NamedRecord => ({ family, digest }));
  const found = (await reader.readItems(tenant, named)).find(({ problem }) => problem !== 'missing');
  if (found === undefined) throw portcullisError('not_found', { what: 'record', id });
  const { record, problem } = found;
  const listed = record === null ? null : await isListed(reader, tenant, { ...found, record }, ticket);
  return { schema: 'portcullis/evidence-view/v1', digest, record, problem, listed };
}

async function isListed(
  reader: GateReader,
  tenant: string,
  { record, digest }: Pick<EvidenceItem, 'digest'> & { readonly record: EvidenceRecord },
  ticket: string | null,
): Promise<boolean | null> {
  const index = indexOf(tenant, record, ticket);
  if (index === null) return null;
  const { entries } = await reader.readIndex(tenant, index);
  return entries.some(
    (entry) => entry.schema !== 'malformed' && entry.digest === digest && entry.family === familyOf(record),
  );
}

/** A record of a check does not say of which ticket it is: its index does. */
function indexOf(tenant: string, record: EvidenceRecord, ticket: string | null): string | null {
  const keys = keysOf(tenant);
  switch (record.schema) {
    case 'portcullis/check-attempt/v1':
    case 'portcullis/check-result/v1':
      return ticket === null ? null : keys.checkIndex({ ...record, ticket: checkedName('ticket', ticket) });
    case 'portcullis/disposition/v1':
      return keys.subjectIndex(record.onSubjectDigest);
    case 'portcullis/verification-run/v1':
    case 'portcullis/finding/v1':
    case 'portcullis/human-decision/v1':
      return keys.subjectIndex(record.subjectDigest);
  }
}

interface Filed {
  readonly gate: GateKind;
  readonly named: NamedRecord;
  /** As its index names it, whatever became of the record. */
  readonly findingId: string;
}

/** What was ever found in a ticket, and what became of it. @throws `not_found`, `schema_invalid` */
export async function ticketFindings(reader: GateReader, tenant: string, id: string): Promise<FindingsAnswer> {
  const ticket = checkedName('ticket', id);
  const subjects = (await reader.subjectsOf(tenant, ticket)).toReversed();
  if (subjects.length === 0) throw portcullisError('not_found', { what: 'evidence of the ticket', id });
  const filed: Filed[] = [];
  const answers: NamedRecord[] = [];
  for (const { gate, subjectDigest } of subjects) {
    const { entries } = await reader.readIndex(tenant, keysOf(tenant).subjectIndex(subjectDigest));
    for (const entry of entries.toReversed()) {
      if (entry.schema === 'malformed') continue;
      const { family, digest } = entry;
      if (family === 'disposition') answers.push({ family, digest });
      const findingId = /^finding\/(.+)\/[0-9]+$/.exec(entry.name)?.[1];
      if (family === 'finding' && findingId !== undefined) filed.push({ gate, named: { family, digest }, findingId });
    }
  }
  const listed = filed.slice(0, FINDINGS_LISTED);
  const items = await reader.readItems(
    tenant,
    listed.map(({ named }) => named),
  );
  const dispositions = (await reader.readItems(tenant, answers)).flatMap(({ record }) =>
    record?.schema === 'portcullis/disposition/v1' ? [record] : [],
  );
  return {
    schema: 'portcullis/findings/v1',
    ticket,
    items: listed.map((one, at) => entryOf(one, items[at], dispositions)),
    omitted: filed.length - listed.length,
  };
}

/** @param dispositions newest first */
function entryOf(
  { gate, named: { digest }, findingId }: Filed,
  item: EvidenceItem | undefined,
  dispositions: readonly DispositionRecord[],
): FiledFindingEntry {
  const said = dispositions.find((one) => one.findingDigest === digest);
  const record = item?.record ?? null;
  return {
    findingId,
    digest,
    gate,
    finding: record?.schema === 'portcullis/finding/v1' ? record : null,
    problem: item?.problem ?? null,
    answered:
      said === undefined
        ? null
        : {
            disposition: said.disposition,
            reasonCode: said.reasonCode,
            onSubjectDigest: said.onSubjectDigest,
            supersededBy: said.supersededBy,
          },
  };
}
