/** Appending to the audit chain: an entry is made for where the chain stands, and made again when it moved meanwhile. */
import { auditDigest, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { StoreConnection } from './connect.ts';
import { auditEntryRecord, EMPTY_CHAIN, headText, readHeadText } from './records/audit.ts';
import { readOptional, recordText } from './records/read.ts';
import { APPEND_AUDIT, APPEND_AUDIT_ONCE } from './scripts/audit.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** Makes and signs the entry that follows this head. */
export type MakeEntry = (head: AuditHead) => Promise<SignedAuditEntry>;

/** More moves than this in a row and the caller is told to come again. */
const MAX_MOVES = 200;

/** What a script needs to append one entry. */
export interface ChainStep {
  readonly next: AuditHead;
  readonly key: string;
  readonly expectedHead: string;
  readonly entryText: string;
  readonly headText: string;
}

export async function readAuditHead(connection: StoreConnection, tenant: string): Promise<AuditHead> {
  return readHeadText(await connection.run((redis) => redis.get(keysOf(tenant).auditHead)));
}

export async function readAuditEntry(
  connection: StoreConnection,
  tenant: string,
  n: number,
): Promise<SignedAuditEntry | null> {
  const text = await connection.run((redis) => redis.get(keysOf(tenant).auditEntry(n)));
  return readOptional('audit entry', auditEntryRecord, text);
}

/** Reads of the chain alone: what the gate worker anchors. Any user may. */
export function auditReader(connection: StoreConnection) {
  return {
    readAuditHead: (tenant: string) => readAuditHead(connection, tenant),
    readAuditEntry: (tenant: string, n: number) => readAuditEntry(connection, tenant, n),
  };
}

/** Calls `write` with a step from where the chain stands, again for as long as it answers `moved`. */
export async function withChainStep(
  connection: StoreConnection,
  tenant: string,
  make: MakeEntry,
  write: (step: ChainStep) => Promise<string>,
): Promise<{ readonly answer: string; readonly next: AuditHead }> {
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const step = await stepFrom(await readAuditHead(connection, tenant), tenant, make);
    const answer = await write(step);
    // The head says an entry is missing that is there: somebody wrote past the script, and nothing may be built on it.
    if (answer === 'chain')
      throw portcullisError('record_unreadable', { what: 'audit chain', reason: 'its head is behind' });
    if (answer !== 'moved') return { answer, next: step.next };
  }
  throw portcullisError('store_unavailable', { reason: 'the audit chain moves too fast' });
}

/** Appends one entry; the head after it. */
export async function appendAudit(connection: StoreConnection, tenant: string, make: MakeEntry): Promise<AuditHead> {
  const { answer, next } = await withChainStep(connection, tenant, make, async (step) => {
    const keys = chainKeys(keysOf(tenant).auditHead, step);
    const [word] = await runScript(connection, APPEND_AUDIT, keys, chainArgs(step));
    return word ?? '';
  });
  return answer === 'appended' ? next : unexpectedReply([answer]);
}

/**
 * Appends one entry of what happens once: repeating it, with the same event and refs, adds none.
 * @throws `record_unreadable` when the entry that it was said to be is another: a mark alone must keep nothing out of the chain
 */
export async function appendAuditOnce(connection: StoreConnection, tenant: string, make: MakeEntry): Promise<void> {
  const mine = saidBy(await make(EMPTY_CHAIN));
  const keys = keysOf(tenant);
  const mark = keys.auditMark(digestHex(contentDigest(new TextEncoder().encode(mine))));
  let marked = '';
  const { answer } = await withChainStep(connection, tenant, make, async (step) => {
    const [word, there] = await runScript(
      connection,
      APPEND_AUDIT_ONCE,
      { mark, ...chainKeys(keys.auditHead, step) },
      { n: step.next.n, ...chainArgs(step) },
    );
    marked = there ?? '';
    return word ?? '';
  });
  if (answer === 'appended') return;
  if (answer !== 'same') unexpectedReply([answer]);
  const there = await readAuditEntry(connection, tenant, Number(marked));
  if (there !== null && saidBy(there) === mine) return;
  throw portcullisError('record_unreadable', { what: 'audit chain', reason: 'a mark names an entry that is another' });
}

/** What an entry says, wherever in the chain it stands. */
function saidBy({ entry: { event, refs, writer } }: SignedAuditEntry): string {
  return canonicalText({ event, refs, writer });
}

/** What every script with an entry needs besides its own. */
export function chainKeys(
  auditHead: string,
  step: ChainStep,
): { readonly auditHead: string; readonly auditEntry: string } {
  return { auditHead, auditEntry: step.key };
}

export function chainArgs(step: ChainStep) {
  return { expectedHead: step.expectedHead, auditText: step.entryText, headText: step.headText };
}

async function stepFrom(head: AuditHead, tenant: string, make: MakeEntry): Promise<ChainStep> {
  const signed = await make(head);
  const { entry, digest } = signed;
  if (
    entry.n !== head.n + 1 ||
    entry.previous !== head.digest ||
    entry.tenant !== tenant ||
    digest !== auditDigest(entry)
  ) {
    throw portcullisError('internal', {}, new Error(`The audit entry made after ${head.n} does not follow it.`));
  }
  const next = { n: entry.n, digest };
  return {
    next,
    key: keysOf(tenant).auditEntry(entry.n),
    expectedHead: headText(head),
    entryText: recordText(signed),
    headText: headText(next),
  };
}
