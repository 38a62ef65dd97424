/** What a verification run is asked for, under which grant, and what it used. */
import { digestOf, sortedSet, type ContentDigest, type Digest } from '../digest.ts';
import type { Principal } from './references.ts';
import type { Method } from './vocabulary.ts';

export interface VerificationRequest {
  readonly schema: 'portcullis/verification-request/v1';
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly verifier: { readonly principal: Principal; readonly class: string };
  readonly methods: readonly Method[];
  readonly rules: { readonly id: string; readonly revision: number; readonly digest: ContentDigest };
  readonly budget: { readonly tokens: number; readonly costMicros: number; readonly wallSeconds: number };
  readonly modelTier: string;
  readonly grantId: string;
  /** Prior blockers in scope, by id: their text is data and is looked up. */
  readonly priorBlockers: readonly string[];
}

export function verificationRequestDigest(request: VerificationRequest): Digest<'request'> {
  return digestOf('request', {
    ...request,
    methods: sortedSet(request.methods, (method) => method),
    priorBlockers: sortedSet(request.priorBlockers, (id) => id),
  });
}

/** What a verifier may read, and the one place it may append to. */
export interface Grant {
  readonly schema: 'portcullis/grant/v1';
  readonly tenant: string;
  readonly id: string;
  readonly revision: number;
  readonly principal: Principal;
  readonly resources: readonly { readonly id: string; readonly version: string; readonly mode: 'read' }[];
  readonly appendTo: string;
  /** Milliseconds since the epoch; expired at equality. */
  readonly expiresAt: number;
  readonly generation: number;
  readonly revokedAt: number | null;
}

/** How a model was chosen and what was spent. Reserved before the call, settled after; unsettled counts as spent. */
export interface Receipt {
  readonly schema: 'portcullis/receipt/v1';
  readonly tenant: string;
  readonly receiptId: string;
  readonly requestDigest: Digest<'request'>;
  readonly runId: string;
  readonly routePolicyRevision: number;
  /** In the order they were considered. */
  readonly candidates: readonly {
    readonly provider: string;
    readonly model: string;
    readonly configRevision: string;
    readonly excludedBy: string | null;
  }[];
  readonly chosen: { readonly provider: string; readonly model: string; readonly configRevision: string } | null;
  readonly reserved: { readonly tokens: number; readonly costMicros: number };
  /** `null` until it is settled. */
  readonly used: { readonly tokens: number; readonly costMicros: number } | null;
  readonly outcome: 'served' | 'refused' | 'timeout' | 'exhausted' | 'transport_error';
  readonly startedAt: number;
  readonly endedAt: number | null;
}
