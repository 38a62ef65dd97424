/**
 * Lands the judged candidate (spec/gate.md section 5): lease → authority and epoch read → compare-and-set on the branch → read
 * back → epoch read. The caller has recorded its intent before. What lands is exactly what was judged, or nothing.
 */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import type { LandAnswer, LandRequest } from '../../schemas/git/activities.ts';
import { branchRef, candidateRef } from '../../schemas/git/refs.ts';
import type { HeldLease, MergeLeases } from '../store/merge-lease.ts';
import { commitAt, isAncestor, moveRef } from './commits.ts';
import { checkedRemote, fetchRemote, pushRemote, readRemote, type GitRemotes } from './remote.ts';
import { git, runGit } from './run.ts';

/** Whether the decision authorises landing exactly this candidate on this base now, and the epoch that was read with it. */
export interface LandingPermission {
  readonly authorises: boolean;
  readonly reason: string;
  readonly epoch: number;
}

export interface LandDependencies {
  readonly remotes: GitRemotes;
  readonly leases: MergeLeases;
  /** Must look at the decision's subject: base and head are the request's `expectedOld` and `candidate`. */
  readonly mayLand: (request: LandRequest) => Promise<LandingPermission>;
}

/** Authority that keeps moving while it is read is asked so often. */
const AUTHORITY_READS = 3;
const RENEW_MS = 10_000;

/** The branch, wherever it is. */
interface Target {
  /** Names the repository for everybody who lands on it. */
  readonly repository: string;
  read(): Promise<string | null>;
  /** Brings what the branch is at into our repository. */
  bring(): Promise<void>;
  /** Why it certainly did not move, or empty: then only reading back tells. */
  move(from: string, to: string): Promise<string>;
  /** After the branch moved: what our own copy says. */
  follow(to: string): Promise<void>;
}

/** @throws `remote_refused`, `remote_unavailable`, `store_unavailable`: nothing is known to have happened, so call again */
export async function land(gitDir: string, needs: LandDependencies, request: LandRequest): Promise<LandAnswer> {
  const { tenant, branch, candidate, expectedOld, holder } = request;
  const target = targetOf(gitDir, needs.remotes, request);
  const lease = await needs.leases.take({ tenant, repository: target.repository, branch }, holder);
  if (lease.kind === 'held') return { outcome: 'busy', retryAfterMs: lease.leftMs };
  try {
    const now = await target.read();
    if (now !== expectedOld) {
      if (!(await holds(gitDir, target, now, candidate))) return { outcome: 'base_moved', now };
      // An attempt of before landed it and was never heard: under which epoch is not known, so what holds now has to do.
      await target.follow(candidate);
      return { ...landed(candidate, lease, null), incident: !(await needs.mayLand(request)).authorises };
    }
    if (!(await isMadeOf(gitDir, candidate, expectedOld))) {
      return { outcome: 'refused', by: 'candidate', reason: 'it is no candidate made on this base' };
    }
    return await withRenewal(needs.leases, lease, () => landUnder(gitDir, needs, request, target, lease));
  } finally {
    // It runs out by itself where the store cannot be told.
    await needs.leases.release(lease).catch(() => {});
  }
}

async function landUnder(
  gitDir: string,
  needs: LandDependencies,
  request: LandRequest,
  target: Target,
  lease: HeldLease,
): Promise<LandAnswer> {
  const { candidate, expectedOld } = request;
  const authority = await readAuthority(needs, request, lease);
  if (typeof authority !== 'number') return authority;
  const complaint = await target.move(expectedOld, candidate);
  const now = await target.read();
  const after = await needs.leases.check(lease);
  if (now === expectedOld) return { outcome: 'refused', by: 'remote', reason: complaint || 'the branch did not move' };
  if (!(await holds(gitDir, target, now, candidate))) return { outcome: 'base_moved', now };
  await target.follow(candidate);
  return landed(candidate, lease, { before: authority, after: after.epoch });
}

/** The epoch under which everything authorises the landing; otherwise why nothing moves. */
async function readAuthority(
  needs: LandDependencies,
  request: LandRequest,
  lease: HeldLease,
): Promise<number | LandAnswer> {
  for (let read = 0; read < AUTHORITY_READS; read += 1) {
    const { authorises, reason, epoch } = await needs.mayLand(request);
    if (!authorises) return { outcome: 'refused', by: 'authority', reason };
    const standing = await needs.leases.check(lease);
    if (standing.state === 'killed') return { outcome: 'refused', by: 'authority', reason: standing.reason };
    if (standing.state === 'lost') return { outcome: 'busy', retryAfterMs: RENEW_MS };
    // What was read before the epoch moved may no longer be so.
    if (standing.epoch === epoch) return epoch;
  }
  return { outcome: 'busy', retryAfterMs: RENEW_MS };
}

function landed(
  commit: string,
  { fencing }: HeldLease,
  epoch: { readonly before: number; readonly after: number } | null,
): Extract<LandAnswer, { outcome: 'landed' }> {
  return { outcome: 'landed', commit, fencing, epoch, incident: epoch !== null && epoch.before !== epoch.after };
}

/** Whether the branch, now at this commit, has the candidate in it. */
async function holds(gitDir: string, target: Target, now: string | null, candidate: string): Promise<boolean> {
  if (now === null || now === candidate) return now === candidate;
  await target.bring();
  return await isAncestor(gitDir, candidate, now);
}

/** Made by us, which its ref says, and on this base, which is its first parent. */
async function isMadeOf(gitDir: string, candidate: string, base: string): Promise<boolean> {
  if ((await commitAt(gitDir, candidateRef(candidate))) !== candidate) return false;
  const { code, stdout } = await runGit({ gitDir, args: ['rev-parse', '--verify', '--quiet', `${candidate}^1`] });
  return code === 0 && stdout.toString('utf8').trim() === base;
}

async function withRenewal<T>(leases: MergeLeases, lease: HeldLease, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void leases.check(lease).catch(() => {}), RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function targetOf(gitDir: string, remotes: GitRemotes, { remote: name, branch, pair }: LandRequest): Target {
  const ref = branchRef(branch);
  if (name === null) {
    return {
      repository: pair,
      read: () => commitAt(gitDir, ref),
      bring: () => Promise.resolve(),
      move: async (from, to) => ((await moveRef(gitDir, ref, from, to)) ? '' : 'the branch is elsewhere'),
      follow: () => Promise.resolve(),
    };
  }
  const remote = checkedRemote(remotes, name);
  return {
    repository: repositoryName(remote.url),
    read: () => readRemote(gitDir, remote, branch),
    bring: () => fetchRemote(gitDir, remote, branch, ref),
    move: (from, to) => pushRemote(gitDir, remote, branch, { from, to }),
    follow: async (to) => {
      await git({ gitDir, args: ['update-ref', ref, to] });
    },
  };
}

/** A name for the lease's key: tickets that land on one remote share it. */
function repositoryName(url: string): string {
  return `remote-${digestHex(contentDigest(new TextEncoder().encode(url))).slice(0, 20)}`;
}
