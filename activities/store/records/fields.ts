/** Field types that several stored records share. */
import { z } from 'zod';
import type { ContentDigest, Digest, DigestKind } from '../../../schemas/digest.ts';
import { EXECUTOR_ROLES, ROLES } from '../../../schemas/names.ts';
import type { PinnedSubject, PolicyRef, RoutingRef } from '../../../schemas/verify/request.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && DIGEST.test(value);
}

/** A digest of a record of this kind. */
export function recordDigest<K extends DigestKind>(kind: K): z.ZodType<Digest<K>> {
  return z.custom<Digest<K>>(isDigest, `must be the digest of a record of kind ${kind}`);
}

export const bytesDigest: z.ZodType<ContentDigest> = z.custom<ContentDigest>(isDigest, 'must be a digest');
export const role = z.enum(ROLES);
export const executorRole = z.enum(EXECUTOR_ROLES);
/** A count, a time in milliseconds, a number in a sequence. */
export const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const pinnedSubject: z.ZodType<PinnedSubject> = z.strictObject({
  headSha: z.string(),
  execution: z.string(),
  generation: count,
});

export const policyRef: z.ZodType<PolicyRef> = z.strictObject({
  id: z.string(),
  revision: count,
  digest: recordDigest('policy'),
  template: z.string(),
});

export const routingRef: z.ZodType<RoutingRef> = z.strictObject({
  id: z.string(),
  revision: count,
  digest: recordDigest('policy'),
});
