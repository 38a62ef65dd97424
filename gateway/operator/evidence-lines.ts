/** The records behind a decision, one line each, as far as its indexes had grown when it was made. */
import { assembleEvidence } from '../../activities/gate/assemble.ts';
import type { GateReader } from '../../activities/store/gate-port.ts';
import type { GateDecision } from '../../schemas/gate/decision.ts';
import type { EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import { EVIDENCE_LINES, type EvidenceLine } from '../../schemas/gate/operator-api.ts';

export async function evidenceLines(
  reader: GateReader,
  tenant: string,
  { subjectDigest, indexes }: GateDecision,
): Promise<readonly EvidenceLine[]> {
  const record = await reader.readSubject(tenant, subjectDigest).catch(() => null);
  // Whether it can be read is the standing's business; here there is nothing to list.
  if (record === null) return [];
  const upTo = new Map(indexes.map(({ index, length }) => [index, length]));
  const { set } = await assembleEvidence(reader, tenant, { record, digest: subjectDigest }, upTo);
  return await Promise.all(set.items.slice(0, EVIDENCE_LINES).map((item) => withReason(reader, tenant, item)));
}

/** A person's words are a record of their own; what cannot be read of them is not guessed. */
async function withReason(reader: GateReader, tenant: string, item: EvidenceItem): Promise<EvidenceLine> {
  const line = lineOf(item);
  if (item.record?.schema !== 'portcullis/human-decision/v1') return line;
  const { case: of, reason } = item.record;
  const words = await reader.readReason(tenant, reason.digest).catch(() => null);
  const parts = [of, words?.text].filter((part) => part != null);
  return { ...line, detail: [line.detail, ...parts].join(': ') };
}

function lineOf({ digest, record, problem }: EvidenceItem): EvidenceLine {
  if (record === null) return { kind: 'unreadable', about: '', status: problem, detail: '', digest };
  switch (record.schema) {
    case 'portcullis/check-attempt/v1':
      return { kind: 'attempt', about: record.checkId, status: 'opened', detail: `attempt ${record.attempt}`, digest };
    case 'portcullis/check-result/v1': {
      const { counts, executor, attestation, refs } = record;
      const counted =
        counts === null ? '' : `${counts.executed} executed, ${counts.failed} failed, ${counts.skipped} skipped; `;
      const by = executor === null ? attestation : `${attestation} ${executor.workspace}`;
      const detail = `${counted}by ${by}${refs.length === 0 ? '' : `; ${refs.map(({ id }) => id).join(', ')}`}`;
      return { kind: 'check', about: record.checkId, status: record.unavailable ?? record.status, detail, digest };
    }
    case 'portcullis/verification-run/v1': {
      const { outcome, verifier } = record;
      const status =
        outcome.state === 'finished' ? 'finished' : outcome.state === 'unavailable' ? outcome.reason : outcome.code;
      const rows =
        outcome.state === 'finished' ? outcome.rows.map((row) => `${row.criterionId} ${row.status}`).join(', ') : '';
      return { kind: 'review', about: `${verifier.class} ${verifier.principal.id}`, status, detail: rows, digest };
    }
    case 'portcullis/finding/v1':
      return { kind: 'finding', about: record.findingId, status: record.standing, detail: record.severity, digest };
    case 'portcullis/disposition/v1':
      return {
        kind: 'disposition',
        about: record.findingId,
        status: record.disposition,
        detail: record.reasonCode,
        digest,
      };
    case 'portcullis/human-decision/v1':
      return { kind: 'human', about: record.principal.id, status: record.decision, detail: record.gate, digest };
  }
}
