/**
 * Reads what a gate judges: the subject, the policy and definition that it names, and everything the append-only indexes list.
 * Nobody hands evidence in, so nothing can be left out (invariant 2).
 */
import type { Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { IndexLength } from '../../schemas/gate/decision.ts';
import { evidenceSetOf, type EvidenceItem, type EvidenceSet } from '../../schemas/gate/evidence-set.ts';
import { orderedSubject, headOf, type SubjectManifest } from '../../schemas/gate/subject.ts';
import { parseDigest } from '../../schemas/digest.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import { keysOf } from '../../schemas/keys.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { GateInput } from '../../policies/gates/input.ts';
import { registerGatePolicy } from '../../policies/gates/register.ts';
import type { GateReader, IndexView, NamedRecord } from '../store/gate-port.ts';

export interface AssembledEvidence {
  readonly set: EvidenceSet;
  /** How far each index had grown when it was read. */
  readonly indexes: readonly IndexLength[];
}

export type JudgedBy = Pick<GateInput, 'subject' | 'policy' | 'definition'>;

/** The indexes of a subject: its own, and one for each check that it requires. */
export function indexKeysOf(tenant: string, subject: SubjectManifest, digest: Digest<'subject'>): readonly string[] {
  const keys = keysOf(tenant);
  const { missionId: ticket, executionId, executionGeneration } = subject;
  const checks = subject.requiredChecks.map(({ checkId, definitionDigest }) =>
    keys.checkIndex({ checkId, definitionDigest, head: headOf(subject), ticket, executionId, executionGeneration }),
  );
  return [keys.subjectIndex(digest), ...checks];
}

/** @throws `not_found`, `record_unreadable`, `gate_policy_refused` for a policy that registration would refuse now */
export async function readJudged(
  reader: GateReader,
  tenant: string,
  subjectDigest: Digest<'subject'>,
): Promise<JudgedBy> {
  const subject = await reader.readSubject(tenant, subjectDigest);
  if (subject === null) throw portcullisError('not_found', { what: 'subject', id: subjectDigest });
  const { gatePolicy, gateDefinition } = subject;
  const [policy, definition] = await Promise.all([
    reader.readPolicy(tenant, gatePolicy.digest),
    reader.readDefinition(tenant, gateDefinition.digest),
  ]);
  if (policy === null) throw portcullisError('not_found', { what: 'gate policy', id: gatePolicy.digest });
  if (definition === null) throw portcullisError('not_found', { what: 'gate definition', id: gateDefinition.digest });
  registerGatePolicy(readStrictJson(new TextEncoder().encode(canonicalText(policy))));
  return {
    subject: { record: orderedSubject(subject), digest: subjectDigest },
    policy: { record: policy, digest: gatePolicy.digest },
    definition: { record: definition, digest: gateDefinition.digest },
  };
}

/** @param upTo lengths at which to stop, by name of the index; everything when left out */
export async function assembleEvidence(
  reader: GateReader,
  tenant: string,
  { record: subject, digest }: JudgedBy['subject'],
  upTo?: ReadonlyMap<string, number>,
): Promise<AssembledEvidence> {
  const views = await Promise.all(indexKeysOf(tenant, subject, digest).map((key) => reader.readIndex(tenant, key)));
  const cut = views.map((view) => cutAt(view, upTo?.get(view.name) ?? view.length));
  // Blockers that came with the subject: their records are of earlier subjects, so no index of this one lists them.
  const priors = subject.priorBlockers.map((prior): NamedRecord => ({ family: 'finding', digest: prior.digest }));
  const items = await Promise.all([
    ...cut.map((view) => itemsOf(reader, tenant, view)),
    reader.readItems(tenant, priors),
  ]);
  return {
    set: evidenceSetOf(items.flat()),
    indexes: cut.map(({ name, length }) => ({ index: name, length })),
  };
}

/** What an index lists beyond a length. */
export async function laterItems(
  reader: GateReader,
  tenant: string,
  { index, length }: IndexLength,
): Promise<readonly EvidenceItem[]> {
  return itemsOf(reader, tenant, await reader.readIndex(tenant, `${keysOf(tenant).prefix}${index}`, length));
}

async function itemsOf(reader: GateReader, tenant: string, { entries }: IndexView): Promise<readonly EvidenceItem[]> {
  const broken = entries.flatMap((entry): readonly EvidenceItem[] =>
    entry.schema === 'malformed'
      ? [{ digest: parseDigest('evidence', entry.digest), record: null, problem: 'malformed' }]
      : [],
  );
  const named = entries.filter((entry) => entry.schema !== 'malformed');
  return [...broken, ...(await reader.readItems(tenant, named))];
}

function cutAt(view: IndexView, length: number): IndexView {
  const kept = Math.min(length, view.length);
  return { ...view, length: kept, entries: view.entries.slice(0, kept) };
}
