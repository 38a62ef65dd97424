/** The merge lease of a branch and the authority epoch (spec/gate.md section 5). Needs a connection of the user `control`. */
import { GLOBAL_KILL_SWITCH, keysOf } from '../../schemas/keys.ts';
import type { StoreConnection } from './connect.ts';
import { CHECK_MERGE_LEASE, RELEASE_MERGE_LEASE, TAKE_MERGE_LEASE } from './scripts/merge-lease.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** Which branch of which repository. */
export interface LandingPlace {
  readonly tenant: string;
  /** A name of the repository that everybody who lands on it uses. */
  readonly repository: string;
  readonly branch: string;
}

export type MergeLease =
  | { readonly kind: 'taken'; readonly place: LandingPlace; readonly fencing: number }
  | { readonly kind: 'held'; readonly holder: string; readonly leftMs: number };

export type HeldLease = Extract<MergeLease, { kind: 'taken' }>;

/** What stands right before the branch is moved. */
export interface LandingAuthority {
  /** `lost`: another holder, or another attempt of the same, has it. `killed`: a kill switch is on. */
  readonly state: 'current' | 'lost' | 'killed';
  /** `authority:epoch`. */
  readonly epoch: number;
  /** Of the kill switch; empty otherwise. */
  readonly reason: string;
}

export interface MergeLeases {
  take(place: LandingPlace, holder: string): Promise<MergeLease>;
  /** Renews the lease that is still held, and reads what has to be read together with it. */
  check(lease: HeldLease): Promise<LandingAuthority>;
  release(lease: HeldLease): Promise<void>;
}

export function mergeLeases(connection: StoreConnection): MergeLeases {
  const leaseKey = ({ tenant, repository, branch }: LandingPlace) => keysOf(tenant).mergeLease(repository, branch);
  return {
    async take(place, holder) {
      const fence = keysOf(place.tenant).mergeFence(place.repository, place.branch);
      const words = await runScript(connection, TAKE_MERGE_LEASE, { lease: leaseKey(place), fence }, { holder });
      const [kind, first, left] = words;
      if (kind === 'taken') return { kind, place, fencing: Number(first) };
      if (kind === 'held' && first !== undefined) return { kind, holder: first, leftMs: Math.max(0, Number(left)) };
      return unexpectedReply(words);
    },
    async check({ place, fencing }) {
      const { authorityEpoch: epoch, killSwitch: killTenant } = keysOf(place.tenant);
      const keys = { lease: leaseKey(place), epoch, killAll: GLOBAL_KILL_SWITCH, killTenant };
      const words = await runScript(connection, CHECK_MERGE_LEASE, keys, { fencing });
      const [state, read, reason = ''] = words;
      if (state !== 'current' && state !== 'lost' && state !== 'killed') return unexpectedReply(words);
      return { state, epoch: Number(read), reason };
    },
    async release({ place, fencing }) {
      await runScript(connection, RELEASE_MERGE_LEASE, { lease: leaseKey(place) }, { fencing });
    },
  };
}
