/** Who may fetch a pair's repository and who may push which branch of it. Says the credential's record, never the call. */
import type { Role } from '../../schemas/names.ts';
import { branchOf, branchRef, OWN_REFS, READABLE_REFS } from '../../schemas/git/refs.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { TOLERATED_FAULTS } from '../../activities/git/pack.ts';
import { requireUse, seatOf, type Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import type { GatewayStore } from '../../activities/store/port.ts';
import type { GatewayLimits } from '../limits.ts';

/** What git needs of the gateway. */
export interface GitContext extends Pick<
  GatewayContext,
  'keys' | 'credentials' | 'tenants' | 'repositoriesDir' | 'limits' | 'logger' | 'metrics'
> {
  readonly store: Pick<GatewayStore, 'readKillSwitch' | 'readHead'>;
}

type GitConfig = readonly (readonly [string, string])[];

/** Whose agents read: the producer, its reviewer, the documenter. */
const READING_AGENTS: readonly Role[] = ['forge', 'sentinel', 'lore'];

/** @throws `not_allowed` for a credential that reads no repository */
export function requireReader(principal: Principal): void {
  if (principal.use === 'executor') {
    seatOf(principal, 'fetch a repository');
    return;
  }
  requireUse(principal, ['agent'], 'fetch a repository');
  if (!READING_AGENTS.includes(principal.role)) throw portcullisError('not_allowed', { action: 'fetch a repository' });
}

/** The one ref that this credential pushes. @throws `not_allowed` for a credential that pushes none */
export function pushedRef(principal: Principal): string {
  requireUse(principal, ['agent'], 'push');
  const branch = branchOf(principal.role, principal.pair);
  if (branch === null) throw portcullisError('not_allowed', { action: 'push' });
  return branchRef(branch);
}

/**
 * Whether something may be pushed now: no kill switch, and by the pair's current execution. What an execution that has ended
 * pushes late would otherwise be on the branch of the next (invariant 4).
 * @throws `kill_switch`, `not_allowed`, `store_unavailable`
 */
export async function requirePushing({ store }: Pick<GitContext, 'store'>, principal: Principal): Promise<void> {
  const { tenant, pair, execution } = principal;
  const [killSwitch, head] = await Promise.all([store.readKillSwitch(tenant), store.readHead(tenant, pair)]);
  if (killSwitch !== null) throw portcullisError('kill_switch', { reason: killSwitch.reason });
  if (head?.execution !== execution) throw portcullisError('not_allowed', { action: 'push: its execution has ended' });
}

/** What unpacks a push could be made to hold gigabytes by a few kilobytes of it: deltas of one long line. */
export const PUSH_MEMORY_KIB = 4 * 1024 * 1024;

/** The control plane's own refs are not shown, but for those that agents read. */
const HIDDEN = [OWN_REFS, ...READABLE_REFS.map((ref) => `!${ref}`)];

export const READ_CONFIG: GitConfig = [
  ['http.receivepack', 'false'],
  // What is pinned is fetched by its id, whether or not a ref names it; the repository is one pair's.
  ['uploadpack.allowAnySHA1InWant', 'true'],
  // A few hundred kilobytes of pushed zeros are gigabytes when deltas are looked for in them.
  ['core.bigFileThreshold', '16m'],
  ['pack.threads', '1'],
  ['pack.windowMemory', '64m'],
  ['core.packedGitLimit', '1g'],
  ['core.packedGitWindowSize', '128m'],
  ...HIDDEN.map((ref) => ['uploadpack.hideRefs', ref] as const),
];

/** For the list of refs that a push begins with: what is shown is what need not be sent. */
export const ADVERTISE_CONFIG: GitConfig = [
  ['http.receivepack', 'true'],
  ['http.uploadpack', 'false'],
  ['receive.advertiseAtomic', 'false'],
  ['receive.advertisePushOptions', 'false'],
  ...HIDDEN.map((ref) => ['receive.hideRefs', ref] as const),
];

/**
 * For the push itself. git decides once more, by itself: every ref but that one is hidden, which refuses its update; no branch
 * is deleted or moved aside; each object is checked before any of them leaves the quarantine.
 */
export function pushConfig(ref: string, { gitPushBytes }: Pick<GatewayLimits, 'gitPushBytes'>): GitConfig {
  return [
    ['http.receivepack', 'true'],
    ['http.uploadpack', 'false'],
    ['receive.hideRefs', 'refs'],
    ['receive.hideRefs', `!${ref}`],
    ['receive.denyDeletes', 'true'],
    ['receive.denyNonFastForwards', 'true'],
    ['receive.advertisePushOptions', 'false'],
    ['receive.shallowUpdate', 'false'],
    ['receive.fsckObjects', 'true'],
    ...TOLERATED_FAULTS.map((fault) => [`receive.fsck.${fault}`, 'ignore'] as const),
    ['receive.maxInputSize', String(gitPushBytes)],
    // Kept as packs, which are checked as they come in.
    ['receive.unpackLimit', '1'],
    ['receive.autogc', 'false'],
    ['receive.updateServerInfo', 'false'],
    ['core.bigFileThreshold', '16m'],
    ['core.packedGitLimit', '1g'],
    ['core.packedGitWindowSize', '128m'],
    ['pack.threads', '1'],
  ];
}
