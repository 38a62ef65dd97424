/** What went into a verifier's context, at which version, and what was left out and why. Sealed before the call. */
import { digestOf, sortedSet, type ContentDigest, type Digest } from '../digest.ts';

export interface ContextManifest {
  readonly schema: 'portcullis/context-manifest/v1';
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly requestDigest: Digest<'request'>;
  readonly constructionPolicyRevision: number;
  readonly budgetTokens: number;
  readonly included: readonly {
    readonly id: string;
    readonly version: string;
    readonly digest: ContentDigest;
    readonly classification: string;
    readonly tokens: number;
  }[];
  readonly excluded: readonly {
    readonly id: string;
    readonly reason: 'budget' | 'classification' | 'not_granted' | 'producer_transcript';
    /** Something required was left out: the run is `context_truncated` whatever the model says. */
    readonly required: boolean;
  }[];
  readonly priorBlockers: readonly { readonly findingId: string; readonly digest: Digest<'finding'> }[];
}

export function orderedContext(context: ContextManifest): ContextManifest {
  return {
    ...context,
    included: sortedSet(context.included, (source) => source.id),
    excluded: sortedSet(context.excluded, (source) => source.id),
    priorBlockers: sortedSet(context.priorBlockers, (blocker) => blocker.findingId),
  };
}

export function contextManifestDigest(context: ContextManifest): Digest<'context-manifest'> {
  return digestOf('context-manifest', orderedContext(context));
}

/** True when something required did not get in. */
export function isTruncated(context: ContextManifest): boolean {
  return context.excluded.some((source) => source.required);
}
