/** Decisions as an operator looks at them: the record, and whether it counts now, derived at each look. */
import { decisionStanding } from '../../activities/gate/standing.ts';
import { parseDigest, type Digest } from '../../schemas/digest.ts';
import { evidenceLines } from './evidence-lines.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { TicketEntry } from '../../schemas/gate/heads.ts';
import type { GateAnswer, GateHistoryAnswer, GateHistoryEntry } from '../../schemas/gate/operator-api.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import { checkedName } from '../../schemas/names.ts';
import type { GateKeys } from '../../activities/gate/standing.ts';
import type { GateReader } from '../../activities/store/gate-port.ts';

/** What these calls read: the store as its user `reader`, and whose decisions count. */
export interface GateReading {
  readonly reader: GateReader;
  readonly keys: GateKeys;
}

/** Decisions that one history lists. Each is verified with all its evidence, so there is an end to it. */
const MAX_LISTED = 50;

/** @throws `not_found`, `schema_invalid` for what is no id */
export async function showGate(gates: GateReading, tenant: string, id: string): Promise<GateAnswer> {
  const evaluationKey = await newestKey(gates, tenant, id);
  const decision = evaluationKey === null ? null : await gates.reader.readDecision(tenant, evaluationKey);
  if (evaluationKey === null || decision === null) throw portcullisError('not_found', { what: 'decision of', id });
  const standing = await decisionStanding(gates.reader, gates.keys, { tenant, evaluationKey });
  const ticket = await ticketOf(gates, tenant, decision.decision.subjectDigest);
  const evidence = await evidenceLines(gates.reader, tenant, decision.decision);
  const overrides = await overridesOf(gates, tenant, decision.decision.policy.digest);
  return { schema: 'portcullis/gate-view/v1', ticket, decision, standing, overrides, evidence };
}

/** Every decision about a ticket or a subject, newest first. @throws `not_found`, `schema_invalid` */
export async function gateHistory(gates: GateReading, tenant: string, id: string): Promise<GateHistoryAnswer> {
  const subjects = (await subjectsOf(gates, tenant, id)).toReversed();
  const listed = await Promise.all(
    subjects.map(async (subject) => {
      const keys = await gates.reader.decisionsOf(tenant, subject.subjectDigest);
      return keys.length === 0 ? [{ subject, key: null }] : keys.toReversed().map((key) => ({ subject, key }));
    }),
  );
  const all = listed.flat();
  const items: GateHistoryEntry[] = [];
  for (const { subject, key } of all.slice(0, MAX_LISTED)) items.push(await historyEntry(gates, tenant, subject, key));
  return { schema: 'portcullis/gate-history/v1', id, items, omitted: Math.max(0, all.length - MAX_LISTED) };
}

async function historyEntry(
  gates: GateReading,
  tenant: string,
  { gate, subjectDigest }: TicketEntry,
  evaluationKey: Digest<'gate-evaluation'> | null,
): Promise<GateHistoryEntry> {
  const nothing = { execution: null, asOf: null, first: null, decision: null } as const;
  const base = { gate, subjectDigest, evaluationKey } as const;
  if (evaluationKey === null) return { ...base, ...nothing, applicability: null };
  try {
    const signed = await gates.reader.readDecision(tenant, evaluationKey);
    if (signed === null) return { ...base, ...nothing, applicability: 'evidence_tampered' };
    const { decision } = signed;
    const [first] = decision.reasons;
    const { applicability } = await decisionStanding(gates.reader, gates.keys, { tenant, evaluationKey });
    return {
      ...base,
      decision: decision.decision,
      execution: { id: decision.executionId, generation: decision.executionGeneration },
      asOf: decision.asOf,
      first: first === undefined ? null : { code: first.code, ref: first.ref },
      applicability,
    };
  } catch (thrown) {
    if (!isUnreadable(thrown)) throw thrown;
    return { ...base, ...nothing, applicability: 'evidence_tampered' };
  }
}

/** The decision itself, or the newest one of the newest subject that has one. */
async function newestKey(gates: GateReading, tenant: string, id: string): Promise<Digest<'gate-evaluation'> | null> {
  const hex = hexOf(id);
  if (hex !== null) {
    const key = parseDigest('gate-evaluation', `sha256:${hex}`);
    if ((await gates.reader.readDecision(tenant, key)) !== null) return key;
  }
  for (const { subjectDigest } of (await subjectsOf(gates, tenant, id)).toReversed()) {
    const newest = (await gates.reader.decisionsOf(tenant, subjectDigest)).at(-1);
    if (newest !== undefined) return newest;
  }
  return null;
}

/** What an id names, oldest first. @throws `not_found` when it names nothing */
async function subjectsOf(gates: GateReading, tenant: string, id: string): Promise<readonly TicketEntry[]> {
  const { reader } = gates;
  const hex = hexOf(id);
  if (hex === null) {
    const subjects = await reader.subjectsOf(tenant, checkedName('ticket', id));
    if (subjects.length === 0) throw portcullisError('not_found', { what: 'decision of', id });
    return subjects;
  }
  const asDecision = await reader.readDecision(tenant, parseDigest('gate-evaluation', `sha256:${hex}`));
  const subjectDigest = asDecision?.decision.subjectDigest ?? parseDigest('subject', `sha256:${hex}`);
  const gate = asDecision?.decision.gate ?? (await gateOf(gates, tenant, subjectDigest));
  if (gate === null) throw portcullisError('not_found', { what: 'decision', id });
  return [{ schema: 'portcullis/ticket-entry/v1', gate, subjectDigest }];
}

async function gateOf({ reader }: GateReading, tenant: string, digest: Digest<'subject'>): Promise<GateKind | null> {
  const subject = await reader.readSubject(tenant, digest);
  if (subject === null) return null;
  return (await reader.readDefinition(tenant, subject.gateDefinition.digest))?.gate ?? null;
}

async function ticketOf({ reader }: GateReading, tenant: string, digest: Digest<'subject'>): Promise<string | null> {
  try {
    return (await reader.readSubject(tenant, digest))?.missionId ?? null;
  } catch (thrown) {
    if (isUnreadable(thrown)) return null;
    throw thrown;
  }
}

async function overridesOf(
  { reader }: GateReading,
  tenant: string,
  digest: Digest<'policy'>,
): Promise<GateAnswer['overrides']> {
  try {
    return (await reader.readPolicy(tenant, digest))?.overrides ?? [];
  } catch (thrown) {
    if (isUnreadable(thrown)) return [];
    throw thrown;
  }
}

function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof PortcullisError && thrown.code === 'record_unreadable';
}

function hexOf(id: string): string | null {
  return /^(?:sha256:)?([0-9a-f]{64})$/.exec(id)?.[1] ?? null;
}
