/** Reads around gates: plain commands, so that the user `reader` can make them too. Every digest is made again here. */
import { contentDigest, digestHex, parseDigest, type ContentDigest, type Digest } from '../../schemas/digest.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { checkDefinitionDigest, type CheckDefinition } from '../../schemas/gate/check.ts';
import { checkDefinitionSchema } from '../../schemas/gate/evidence.schema.ts';
import type { SignedGateDecision } from '../../schemas/gate/decision.ts';
import type { EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import { readWith } from '../../schemas/gate/fields.schema.ts';
import type { IndexEntry, PolicyHead, SubjectHead, TicketEntry } from '../../schemas/gate/heads.ts';
import { gateDefinitionSchema, gatePolicySchema } from '../../schemas/gate/policy.schema.ts';
import {
  gateDefinitionDigest,
  gatePolicyDigest,
  type GateDefinition,
  type GatePolicy,
} from '../../schemas/gate/policy.ts';
import { grantSchema } from '../../schemas/gate/request.schema.ts';
import { reasonDigest, type ReasonRecord } from '../../schemas/gate/human.ts';
import type { Grant } from '../../schemas/gate/request.ts';
import { subjectSchema } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import { keysOf } from '../../schemas/keys.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { readFoundRecord } from '../../policies/gates/read-evidence.ts';
import type { GateReader, IndexView, MalformedEntry, NamedRecord } from './gate-port.ts';
import { RedisReader } from './reader.ts';
import { readOptional, readRecord } from './records/read.ts';
import {
  indexEntryRecord,
  policyHeadRecord,
  reasonRecord,
  signedDecisionRecord,
  subjectHeadRecord,
  ticketEntryRecord,
} from './records/gate.ts';
import type { z } from 'zod';
import type { StoreConnection } from './connect.ts';

/** Records that one call fetches. */
const BATCH = 200;

/** A reader over this connection, whichever user it belongs to. */
export function gateReader(connection: StoreConnection): GateReader {
  return new RedisGateReader(connection);
}

export class RedisGateReader extends RedisReader implements GateReader {
  readSubject(tenant: string, digest: Digest<'subject'>): Promise<SubjectManifest | null> {
    return this.sealed('subject', keysOf(tenant).subject(digest), subjectSchema, subjectDigest, digest);
  }

  readPolicy(tenant: string, digest: Digest<'policy'>): Promise<GatePolicy | null> {
    return this.sealed(
      'gate policy',
      keysOf(tenant).policyDocument(digest),
      gatePolicySchema,
      gatePolicyDigest,
      digest,
    );
  }

  readDefinition(tenant: string, digest: Digest<'gate-definition'>): Promise<GateDefinition | null> {
    const key = keysOf(tenant).policyDocument(digest);
    return this.sealed('gate definition', key, gateDefinitionSchema, gateDefinitionDigest, digest);
  }

  readCheckDefinition(tenant: string, digest: Digest<'definition'>): Promise<CheckDefinition | null> {
    const key = keysOf(tenant).policyDocument(digest);
    return this.sealed('check definition', key, checkDefinitionSchema, checkDefinitionDigest, digest);
  }

  async readPolicyHead(tenant: string, gate: GateKind): Promise<PolicyHead | null> {
    return readOptional('policy head', policyHeadRecord, await this.get(keysOf(tenant).policyHead(gate)));
  }

  async readSubjectHead(tenant: string, ticket: string, gate: GateKind): Promise<SubjectHead | null> {
    return readOptional('subject head', subjectHeadRecord, await this.get(keysOf(tenant).subjectHead(ticket, gate)));
  }

  async readGrant(tenant: string, id: string, revision: number): Promise<Grant | null> {
    return readOptional('grant', grantSchema, await this.get(keysOf(tenant).grant(id, revision)));
  }

  async readReason(tenant: string, digest: ContentDigest): Promise<ReasonRecord | null> {
    const reason = readOptional('reason', reasonRecord, await this.get(keysOf(tenant).reason(digest)));
    if (reason === null || reasonDigest(reason) === digest) return reason;
    throw portcullisError('record_unreadable', { what: 'reason', reason: 'its bytes do not give its digest' });
  }

  async readIndex(tenant: string, key: string, from = 0): Promise<IndexView> {
    const texts = await this.connection.run((redis) => redis.lrange(key, from, -1));
    return {
      name: key.slice(keysOf(tenant).prefix.length),
      length: from + texts.length,
      entries: texts.map(readEntry),
    };
  }

  indexLength(tenant: string, name: string): Promise<number> {
    if (!name.startsWith('index:'))
      throw portcullisError('record_unreadable', { what: 'index', reason: 'has no name' });
    return this.connection.run((redis) => redis.llen(`${keysOf(tenant).prefix}${name}`));
  }

  async readItems(tenant: string, named: readonly NamedRecord[]): Promise<readonly EvidenceItem[]> {
    const keys = named.map(({ family, digest }) => keysOf(tenant).evidence(family, digest));
    const texts: (string | null)[] = [];
    for (let at = 0; at < keys.length; at += BATCH) {
      texts.push(...(await this.connection.run((redis) => redis.mget(...keys.slice(at, at + BATCH)))));
    }
    return named.map(({ digest }, index) => readItem(digest, texts[index] ?? null));
  }

  async readRevoked(tenant: string, authorities: readonly string[]): Promise<ReadonlySet<string>> {
    if (authorities.length === 0) return new Set();
    const keys = authorities.map((authority) => keysOf(tenant).revoked(authority));
    const texts = await this.connection.run((redis) => redis.mget(...keys));
    return new Set(authorities.filter((_, index) => texts[index] !== null));
  }

  async readEpoch(tenant: string): Promise<number> {
    return Number((await this.get(keysOf(tenant).authorityEpoch)) ?? 0);
  }

  async readDecision(tenant: string, key: Digest<'gate-evaluation'>): Promise<SignedGateDecision | null> {
    return readOptional('decision', signedDecisionRecord, await this.get(keysOf(tenant).decision(key)));
  }

  async isContradicted(tenant: string, key: Digest<'gate-evaluation'>): Promise<boolean> {
    return (await this.connection.run((redis) => redis.exists(keysOf(tenant).contradicted(key)))) === 1;
  }

  async decisionsOf(tenant: string, subject: Digest<'subject'>): Promise<readonly Digest<'gate-evaluation'>[]> {
    const found: Digest<'gate-evaluation'>[] = [];
    for (;;) {
      const text = await this.get(keysOf(tenant).decisionOf(subject, found.length + 1));
      if (text === null) return found;
      found.push(parseDigest('gate-evaluation', text));
    }
  }

  async subjectsOf(tenant: string, ticket: string): Promise<readonly TicketEntry[]> {
    const texts = await this.connection.run((redis) => redis.lrange(keysOf(tenant).ticketIndex(ticket), 0, -1));
    return texts.map((text) => readRecord('ticket entry', ticketEntryRecord, text));
  }

  /** A document whose own bytes give the digest it is kept under. */
  private async sealed<T>(
    what: string,
    key: string,
    schema: z.ZodType<T>,
    digestOf: (record: T) => ContentDigest,
    digest: ContentDigest,
  ): Promise<T | null> {
    const text = await this.get(key);
    if (text === null) return null;
    let record: T;
    let actual: ContentDigest;
    try {
      record = readWith(schema, readStrictJson(Buffer.from(text, 'utf8')), what);
      actual = digestOf(record);
    } catch (thrown) {
      const reason = thrown instanceof PortcullisError ? thrown.message : 'it is not as it should be';
      throw portcullisError('record_unreadable', { what, reason }, thrown);
    }
    if (actual === digest) return record;
    throw portcullisError('record_unreadable', {
      what,
      reason: `its bytes do not give ${digestHex(digest).slice(0, 12)}…`,
    });
  }
}

function readEntry(text: string): IndexEntry | MalformedEntry {
  try {
    return readRecord('index entry', indexEntryRecord, text);
  } catch {
    return { schema: 'malformed', digest: contentDigest(Buffer.from(text, 'utf8')) };
  }
}

function readItem(named: ContentDigest, text: string | null): EvidenceItem {
  // Which of the two kinds it is of is in the record itself, and the digest is made again with that kind.
  const digest = parseDigest('evidence', named);
  if (text === null) return readFoundRecord({ digest, found: null });
  try {
    return readFoundRecord({ digest, found: readStrictJson(Buffer.from(text, 'utf8')) });
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    return { digest, record: null, problem: 'malformed' };
  }
}
