import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditDigest, type AuditEntry, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import type { AuditAnchor } from '../../schemas/gate/workflow.ts';
import { anchorText, walkAuditChain, type CheckSignature } from './walk.ts';

const TENANT = 'local';
/** Stands for Ed25519: only who has the word can make it. */
const sealOf = (writer: string, text: string) => `${writer} sealed ${text}`;
const check: CheckSignature = (writer, keyId, text, signature) =>
  keyId === `key-${writer}` && signature === sealOf(writer, text);

function signed(entry: AuditEntry): SignedAuditEntry {
  const digest = auditDigest(entry);
  return { entry, digest, signature: sealOf(entry.writer, digest) };
}

function chainOf(length: number): readonly SignedAuditEntry[] {
  const entries: SignedAuditEntry[] = [];
  for (let n = 1; n <= length; n += 1) {
    const writer = n % 3 === 0 ? 'gate' : 'control';
    entries.push(
      signed({
        schema: 'portcullis/audit/v1',
        tenant: TENANT,
        n,
        previous: entries.at(-1)?.digest ?? null,
        event: 'verify_ended',
        refs: { task: `t${n}` },
        at: n,
        writer,
        keyId: `key-${writer}`,
      }),
    );
  }
  return entries;
}

const headOf = (entries: readonly SignedAuditEntry[]): AuditHead => ({
  n: entries.at(-1)?.entry.n ?? 0,
  digest: entries.at(-1)?.digest ?? null,
});

function anchorAt(entries: readonly SignedAuditEntry[], n: number): AuditAnchor {
  const head = headOf(entries.slice(0, n));
  return {
    schema: 'portcullis/audit-anchor/v1',
    tenant: TENANT,
    head,
    signature: sealOf('gate', anchorText(TENANT, head)),
    keyId: 'key-gate',
  };
}

function faults(entries: readonly SignedAuditEntry[], head: AuditHead, anchors: readonly AuditAnchor[] = []) {
  const walk = walkAuditChain(TENANT, check, anchors);
  // In pages, as it is read.
  for (let start = 0; start < entries.length; start += 3) walk.take(entries.slice(start, start + 3));
  return walk.end(head).map(({ code, n }) => `${code} ${n}`);
}

const chain = chainOf(10);

test('a chain as it was written has no fault, with and without anchors', () => {
  expect(faults([], { n: 0, digest: null })).toEqual([]);
  expect(faults([], { n: 0, digest: null }, [anchorAt([], 0)])).toEqual([]);
  expect(faults(chain, headOf(chain), [anchorAt(chain, 4), anchorAt(chain, 10)])).toEqual([]);
});

describe('[inv-03] whoever rewrites the store is seen', () => {
  test('an entry taken out', () => {
    expect(faults(chain.toSpliced(4, 1), headOf(chain))).toEqual(['missing 5', 'unchained 6']);
  });

  test('an entry changed in its place', () => {
    const [first] = chain;
    if (first === undefined) throw new Error('no entry');
    const other = { ...first, entry: { ...first.entry, refs: { task: 'another' } } };
    expect(faults(chain.with(0, other), headOf(chain))).toEqual(['altered 1']);
  });

  test('a chain written anew from an entry on, with digests that fit and no key', () => {
    const forged = chainOf(12).map((of, index) => (index < 6 ? of : { ...of, signature: 'none' }));
    expect(faults(forged, headOf(forged))).toEqual([7, 8, 9, 10, 11, 12].map((n) => `unsigned ${n}`));
  });

  test('an entry of the gate worker signed with the control worker’s key', () => {
    const { entry } = chain[9] ?? { entry: undefined };
    if (entry === undefined) throw new Error('no entry');
    const posed = { ...entry, writer: 'gate' as const, keyId: 'key-control' };
    const digest = auditDigest(posed);
    const entries = chain.with(9, { entry: posed, digest, signature: sealOf('control', digest) });
    expect(faults(entries, headOf(entries))).toEqual(['unsigned 10']);
  });

  test('the end cut off, by an anchor that was signed before', () => {
    const short = chain.slice(0, 6);
    expect(faults(short, headOf(short), [anchorAt(chain, 9)])).toEqual(['anchor 9']);
    expect(faults(short, headOf(short), [anchorAt(chain, 6)])).toEqual([]);
  });

  test('the end written again by somebody who has the control worker’s key, by an anchor', () => {
    const again = [...chain.slice(0, 7), ...chainOf(10).slice(7)];
    const { entry } = again[7] ?? { entry: undefined };
    if (entry === undefined) throw new Error('no entry');
    const ends = signed({ ...entry, at: 99 });
    const entries = [...chain.slice(0, 7), ends];
    expect(faults(entries, headOf(entries), [anchorAt(chain, 8)])).toEqual(['anchor 8']);
  });

  test('an anchor that nobody signed, or of another tenant, is no proof', () => {
    const anchor = anchorAt(chain, 5);
    expect(faults(chain, headOf(chain), [{ ...anchor, signature: 'none' }])).toEqual(['anchor_unsigned 5']);
    expect(faults(chain, headOf(chain), [{ ...anchor, tenant: 'other' }])).toEqual(['anchor_unsigned 5']);
  });

  test('a head that names another entry than the last', () => {
    expect(faults(chain, { n: 11, digest: headOf(chain).digest })).toEqual(['head 11']);
    expect(faults(chain, headOf(chain.slice(0, 9)))).toEqual(['head 9']);
  });

  test('entries of another tenant', () => {
    const walk = walkAuditChain('other', check, []);
    walk.take(chain);
    expect(walk.end(headOf(chain))[0]).toEqual({ code: 'altered', n: 1 });
  });
});

test('[inv-03] no set of entries but the one that was written passes, whatever is moved, doubled or left out', () => {
  const anchors = [anchorAt(chain, 10)];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 14 }), (order) => {
      const entries = order.flatMap((index) => chain[index] ?? []);
      const same = entries.length === chain.length && entries.every((of, index) => of === chain[index]);
      expect(faults(entries, headOf(entries), anchors).length === 0).toBe(same);
    }),
    { numRuns: 2_000, examples: [[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]] },
  );
});

test('a chain that is not ours costs bounded memory', () => {
  const wide = chainOf(1).map(({ entry, ...of }) => ({ ...of, entry: { ...entry, n: 2_000_000_000 } }));
  const walk = walkAuditChain(TENANT, check, []);
  walk.take(wide);
  expect(walk.end({ n: 0, digest: null })).toHaveLength(100);
});
