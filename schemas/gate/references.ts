/** Small shapes that several gate records share. */
import type { ContentDigest, Digest } from '../digest.ts';

/** A piece of evidence by name and exact bytes. */
export interface EvidenceRef {
  readonly id: string;
  readonly digest: ContentDigest;
}

/** One exact revision of a gate policy. */
export interface GatePolicyRef {
  readonly id: string;
  readonly revision: number;
  readonly digest: Digest<'policy'>;
}

/** One exact revision of a gate definition. */
export interface GateDefinitionRef {
  readonly id: string;
  readonly revision: number;
  readonly digest: Digest<'gate-definition'>;
}

/**
 * Who acts. `lineage` is whom it acts for, nearest first, up to a principal with authority of its own: a second run id, a
 * rotated token or a child is still the same hand.
 */
export interface Principal {
  readonly id: string;
  readonly lineage: readonly string[];
}

/** Whom a principal counts as: the end of its lineage. One human or one key counts once. */
export function rootOf(principal: Principal): string {
  return principal.lineage.at(-1) ?? principal.id;
}

/** True when one acts for the other or both for the same. */
export function areRelated(a: Principal, b: Principal): boolean {
  const hands = new Set([a.id, ...a.lineage]);
  return hands.has(b.id) || b.lineage.some((id) => hands.has(id));
}
