/** What landing needs, as a test sets it: a lease that nobody else wants, an authority, a request. */
import { digestOf } from '../../schemas/digest.ts';
import type { LandRequest } from '../../schemas/git/activities.ts';
import type { LandDependencies } from '../../activities/git/land.ts';
import type { HeldLease, LandingAuthority, MergeLease, MergeLeases } from '../../activities/store/merge-lease.ts';

export interface LandWorld {
  readonly needs: LandDependencies;
  readonly released: readonly HeldLease[];
}

/** @param allowed remotes below this directory */
export function landWorld(
  allowed: string,
  change: { check?: (n: number) => LandingAuthority; take?: MergeLease; mayLand?: LandDependencies['mayLand'] } = {},
): LandWorld {
  let checks = 0;
  const released: HeldLease[] = [];
  const leases: MergeLeases = {
    take: (place) => Promise.resolve(change.take ?? { kind: 'taken', place, fencing: 7 }),
    check: () => {
      checks += 1;
      return Promise.resolve(change.check?.(checks) ?? { state: 'current', epoch: 3, reason: '' });
    },
    release: (lease) => Promise.resolve(void released.push(lease)),
  };
  const remotes = { allowed: [`${allowed}/`], credentialsFile: null, sshConfigFile: null };
  const mayLand = change.mayLand ?? (() => Promise.resolve({ authorises: true, reason: '', epoch: 3 }));
  return { needs: { leases, remotes, mayLand }, released };
}

/** Of `main`, with the intent of epoch 3. */
export function landRequest(what: Pick<LandRequest, 'expectedOld' | 'candidate'> & Partial<LandRequest>): LandRequest {
  return {
    ...{ tenant: 'local', pair: 'T-1', remote: null, branch: 'main', holder: 'ticket/local/T-1', epoch: 3 },
    evaluationKey: digestOf('gate-evaluation', {}),
    ...what,
  };
}
