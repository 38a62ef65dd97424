/** Findings of a ticket by their ids: what a later subject names as prior blockers, and what an agent is told of them. */
import { parseDigest, type Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Finding } from '../../schemas/gate/finding.ts';
import type { OpenBlocker } from '../../schemas/harness-api.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { GateReader } from '../store/gate-port.ts';

export interface FiledUnder {
  readonly findingId: string;
  readonly digest: Digest<'finding'>;
}

type Reader = Pick<GateReader, 'subjectsOf' | 'readIndex' | 'readItems'>;

interface OfTicket {
  readonly tenant: string;
  readonly ticket: string;
}

/**
 * Where each of the ids is filed, in the order given. A finding whose record was taken away is still named, so that whoever
 * judges misses it. @throws `not_found` for an id that no subject of the ticket has a finding of
 */
export async function filedFindingsOf(
  evidence: Reader,
  of: OfTicket,
  ids: readonly string[],
): Promise<readonly FiledUnder[]> {
  const known = await knownFindingsOf(evidence, of, ids);
  const missing = ids.find((id) => !known.some(({ findingId }) => findingId === id));
  if (missing === undefined) return known;
  throw portcullisError('not_found', { what: 'finding', id: missing });
}

/** The same without those that no subject of the ticket has. */
export async function knownFindingsOf(
  evidence: Reader,
  { tenant, ticket }: OfTicket,
  ids: readonly string[],
): Promise<readonly FiledUnder[]> {
  const wanted = new Set(ids);
  const found = new Map<string, Digest<'finding'>>();
  const subjects = wanted.size === 0 ? [] : await evidence.subjectsOf(tenant, ticket);
  for (const { subjectDigest } of subjects.toReversed()) {
    if (found.size === wanted.size) break;
    const { entries } = await evidence.readIndex(tenant, keysOf(tenant).subjectIndex(subjectDigest));
    for (const entry of entries) {
      if (entry.schema === 'malformed' || entry.family !== 'finding') continue;
      const id = /^finding\/(.+)\/[0-9]+$/.exec(entry.name)?.[1];
      if (id !== undefined && wanted.has(id)) found.set(id, parseDigest('finding', entry.digest));
    }
  }
  return [...wanted].flatMap((findingId) => {
    const digest = found.get(findingId);
    return digest === undefined ? [] : [{ findingId, digest }];
  });
}

/** The same with what an agent is told; one whose record cannot be read is named without words. */
export async function openBlockersOf(
  evidence: Reader,
  tenant: string,
  filed: readonly FiledUnder[],
): Promise<readonly OpenBlocker[]> {
  const items = await evidence.readItems(
    tenant,
    filed.map(({ digest }) => ({ family: 'finding', digest })),
  );
  return filed.map(({ findingId, digest }, index) => {
    const record = items[index]?.record ?? null;
    return record?.schema === 'portcullis/finding/v1' ? told(digest, record) : unread(findingId, digest);
  });
}

function told(digest: string, finding: Finding): OpenBlocker {
  const { findingId, type, severity, location, failureScenario, requiredFix } = finding;
  const at = location ?? finding.changedRange;
  return {
    findingId,
    digest,
    type,
    severity,
    location: at === null ? null : { path: at.path, fromLine: at.fromLine, toLine: at.toLine },
    failureScenario,
    requiredFix,
  };
}

function unread(findingId: string, digest: string): OpenBlocker {
  return {
    ...{ findingId, digest, type: 'unknown', severity: 'blocker', location: null },
    failureScenario: 'Its record cannot be read.',
    requiredFix: 'Ask an operator.',
  };
}
