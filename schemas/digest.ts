/**
 * Every digest of a record is made here (lint forbids hashing elsewhere).
 *
 * `sha256:` + hex of SHA-256 over `portcullis:<kind>:v<N>\0` followed by the canonical bytes: the same bytes under two
 * kinds never share a digest (spec/gate.md section 2).
 *
 * @example digestOf('request', { pair: 'T-048' }) // 'sha256:…'
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalBytes } from './canonical.ts';
import { portcullisError } from './errors.ts';

/** The kinds and the version of each one's layout. A changed layout is a new version, never a changed meaning. */
export const DIGEST_KINDS = {
  subject: 1,
  evidence: 1,
  'evidence-set': 1,
  finding: 1,
  'context-manifest': 1,
  policy: 1,
  'gate-definition': 1,
  'gate-evaluation': 1,
  decision: 1,
  audit: 1,
  request: 1,
  definition: 1,
  action: 1,
} as const;

export type DigestKind = keyof typeof DIGEST_KINDS;

declare const kindOfDigest: unique symbol;
/** A digest that remembers, for the compiler, which kind of record it names. */
export type Digest<K extends DigestKind = DigestKind> = `sha256:${string}` & { readonly [kindOfDigest]: K };
/** A digest of raw bytes (a file, a stream, a git object list), not of a record. */
export type ContentDigest = `sha256:${string}`;

const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

/** The digest of a record of this kind. @throws `canonical_unsupported` */
export function digestOf<K extends DigestKind>(kind: K, value: unknown): Digest<K> {
  const domain = new TextEncoder().encode(`portcullis:${kind}:v${DIGEST_KINDS[kind]}\0`);
  const hash = sha256.create().update(domain).update(canonicalBytes(value)).digest();
  return `sha256:${bytesToHex(hash)}` as Digest<K>;
}

/** Reads a digest of this kind from text. @throws `schema_invalid` when it is not one. */
export function parseDigest<K extends DigestKind>(kind: K, text: string): Digest<K> {
  if (!DIGEST_PATTERN.test(text)) {
    throw portcullisError('schema_invalid', { path: kind, reason: 'is not sha256: followed by 64 hex digits' });
  }
  return text as Digest<K>;
}

/** The bare 64 hex digits, for ids and file names. */
export function digestHex(digest: `sha256:${string}`): string {
  return digest.slice('sha256:'.length);
}

/** A digest of plain bytes that came as text. @throws `schema_invalid` */
export function parseContentDigest(text: string): ContentDigest {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1];
  if (hex === undefined) throw portcullisError('schema_invalid', { path: 'digest', reason: 'must be sha256:<64 hex>' });
  return `sha256:${hex}`;
}

/** The digest of raw bytes held in memory. For streams use `activities/content/hasher.ts`. */
export function contentDigest(bytes: Uint8Array): ContentDigest {
  return `sha256:${bytesToHex(sha256(bytes))}`;
}

/**
 * Sorts a set for digesting, by code unit of each member's key.
 * @throws `canonical_unsupported` on a repeated key: a set that says a thing twice is not a set.
 */
export function sortedSet<T>(members: readonly T[], key: (member: T) => string): readonly T[] {
  const sorted = members.toSorted((a, b) => compareCodeUnits(key(a), key(b)));
  sorted.forEach((member, index) => {
    const next = sorted[index + 1];
    if (next !== undefined && key(member) === key(next)) {
      throw portcullisError('canonical_unsupported', {
        path: key(member).slice(0, 200),
        reason: 'is in the set twice',
      });
    }
  });
  return sorted;
}

/** Code-unit order: the same on every machine, unlike `localeCompare`. */
export function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
