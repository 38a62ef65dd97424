/**
 * Whether an audit chain is what its writers wrote (spec/gate.md section 8): each entry is what its digest says, follows the one
 * before, is signed by its writer's key, and every anchor that was ever signed lies on it. Whoever rewrites the store has no key, and
 * whoever cuts the end off cannot take the anchors back.
 */
import { auditDigest, type AuditEntry, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import type { AuditAnchor } from '../../schemas/gate/workflow.ts';

export const AUDIT_FAULTS = [
  /** An entry below the head is not there. */
  'missing',
  /** An entry is not what its digest says, or of another tenant or number. */
  'altered',
  /** It does not name the entry before it. */
  'unchained',
  /** No key of its writer signed it. */
  'unsigned',
  /** The head names another entry than the last. */
  'head',
  /** An anchor was signed over an entry that is another one now, or is not there any more. */
  'anchor',
  /** An anchor is not signed by a key of the gate worker. */
  'anchor_unsigned',
] as const;
export type AuditFaultCode = (typeof AUDIT_FAULTS)[number];

export interface AuditFault {
  readonly code: AuditFaultCode;
  /** Number of the entry. */
  readonly n: number;
}

/** Whether a key of this writer made the signature over the text. */
export type CheckSignature = (writer: AuditEntry['writer'], keyId: string, text: string, signature: string) => boolean;

export interface ChainWalk {
  /** The next entries, by their numbers. */
  take(entries: readonly SignedAuditEntry[]): void;
  /** After the last entry; the faults, by entry. */
  end(head: AuditHead): readonly AuditFault[];
  /** Number of the last entry that was taken. */
  readonly n: number;
}

/** Faults that are kept: a chain that is not ours has one at each entry. */
const MAX_FAULTS = 100;

/** A walk from the first entry. Memory: 32 bytes an anchor and the faults, however long the chain is. */
export function walkAuditChain(tenant: string, check: CheckSignature, anchored: readonly AuditAnchor[]): ChainWalk {
  const faults: AuditFault[] = [];
  const wanted = new Map<number, Set<string | null>>();
  for (const { head } of anchored) wanted.set(head.n, (wanted.get(head.n) ?? new Set()).add(head.digest));
  let last: AuditHead = { n: 0, digest: null };
  const fault = (code: AuditFaultCode, n: number) => {
    if (faults.length < MAX_FAULTS) faults.push({ code, n });
  };

  function take({ entry, digest, signature }: SignedAuditEntry): void {
    for (let n = last.n + 1; n < entry.n && faults.length < MAX_FAULTS; n += 1) fault('missing', n);
    const follows = entry.n === last.n + 1 && entry.previous === last.digest;
    if (auditDigest(entry) !== digest || entry.tenant !== tenant) fault('altered', entry.n);
    else if (!follows) fault('unchained', entry.n);
    else if (!check(entry.writer, entry.keyId, digest, signature)) fault('unsigned', entry.n);
    const anchors = wanted.get(entry.n);
    if (anchors !== undefined && [...anchors].some((at) => at !== digest)) fault('anchor', entry.n);
    last = { n: entry.n, digest };
  }

  return {
    get n() {
      return last.n;
    },
    take: (entries) => {
      for (const entry of entries) take(entry);
    },
    end: (head) => {
      if (head.n !== last.n || head.digest !== last.digest) fault('head', head.n);
      for (const anchor of anchored) {
        const text = anchorText(anchor.tenant, anchor.head);
        if (anchor.tenant !== tenant || !check('gate', anchor.keyId, text, anchor.signature)) {
          fault('anchor_unsigned', anchor.head.n);
        } else if (anchor.head.n > last.n) fault('anchor', anchor.head.n);
      }
      return faults.toSorted((a, b) => a.n - b.n);
    },
  };
}

/** What an anchor's signature is made over. */
export function anchorText(tenant: string, head: AuditHead): string {
  return ['anchor', tenant, String(head.n), head.digest ?? ''].join('\0');
}
