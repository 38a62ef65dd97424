/**
 * Lands the judged candidate (spec/gate.md section 5): lease → authority and epoch read → compare-and-set on the branch → read
 * back → epoch read. The caller has recorded its intent before. What lands is exactly what was judged, or nothing.
 *
 * `refused` is answered only where the branch was read and had not moved, and nothing that was sent to it can still arrive.
 * Everything else that goes wrong is thrown: the branch may have moved, or will, by this attempt or by one before, and the next one
 * begins by reading it.
 */
import { PortcullisError, portcullisError, type ErrorCode } from '../../schemas/errors.ts';
import type { LandAnswer, Landing, LandingPermission, LandRequest } from '../../schemas/git/activities.ts';
import { candidateRef } from '../../schemas/git/refs.ts';
import type { HeldLease, LandingAuthority, MergeLeases } from '../store/merge-lease.ts';
import { commitAt } from './commits.ts';
import { sentMark, type SentMark } from './land-sent.ts';
import { landTarget, type LandTarget } from './land-target.ts';
import type { GitRemotes } from './remote.ts';

export interface LandDependencies {
  readonly remotes: GitRemotes;
  readonly leases: MergeLeases;
  /** Must look at the decision's subject: base and head are the landing's `expectedOld` and `candidate`. */
  readonly mayLand: (landing: Landing) => Promise<LandingPermission>;
}

/** Authority that keeps moving while it is read is asked so often. */
const AUTHORITY_READS = 3;
const RENEW_MS = 10_000;

/** What is not there, or is not what it says, authorises nothing; while the store is away nothing is known. */
const UNREADABLE: readonly ErrorCode[] = ['not_found', 'record_unreadable', 'schema_invalid', 'canonical_unsupported'];

/** @throws `remote_refused`, `remote_unavailable`, `repository_invalid`, `store_unavailable`: call again, which reads back */
export async function land(gitDir: string, needs: LandDependencies, request: LandRequest): Promise<LandAnswer> {
  const { tenant, branch, candidate, expectedOld, holder } = request;
  const target = landTarget(gitDir, needs.remotes, request);
  const sent = sentMark(gitDir, candidate);
  const lease = await needs.leases.take({ tenant, repository: target.repository, branch }, holder);
  if (lease.kind === 'held') return { outcome: 'busy', retryAfterMs: lease.leftMs };
  try {
    // Before the branch is read: what settles in between may have moved it in between.
    const pending = await sent.pending();
    const now = await target.read();
    if (now !== expectedOld) {
      if (!(await target.holds(now, candidate))) return { outcome: 'base_moved', now };
      return await landedBefore(needs, request, target, lease);
    }
    const answer: LandAnswer = (await isMadeOf(gitDir, candidate, expectedOld))
      ? await withRenewal(needs.leases, lease, () => landUnder(needs, request, { target, lease, sent }))
      : { outcome: 'refused', by: 'candidate', reason: 'it is no candidate made on this base' };
    if (answer.outcome === 'refused' && pending) {
      const reason = 'what an attempt before sent to it was not answered, and may still arrive';
      throw portcullisError('remote_unavailable', { reason });
    }
    return answer;
  } finally {
    // It runs out by itself where the store cannot be told.
    await needs.leases.release(lease).catch(() => {});
  }
}

/**
 * An attempt of before landed it and was never heard, so what changed meanwhile is told from the epoch of the intent. That may
 * call an incident what came before the branch moved; never the other way round.
 */
async function landedBefore(
  needs: LandDependencies,
  request: LandRequest,
  target: LandTarget,
  lease: HeldLease,
): Promise<LandAnswer> {
  const { candidate, epoch } = request;
  await target.follow(candidate);
  const { authorises } = await permission(needs, request);
  const after = await needs.leases.check(lease);
  return landed(candidate, lease, { epoch: null, incident: !authorises || hasChanged(epoch, after) });
}

interface Attempt {
  readonly target: LandTarget;
  readonly lease: HeldLease;
  readonly sent: SentMark;
}

async function landUnder(needs: LandDependencies, request: LandRequest, attempt: Attempt): Promise<LandAnswer> {
  const { target, lease, sent } = attempt;
  // Before the lease is looked at: whoever takes it after that finds the mark.
  await sent.sending();
  let mayArrive = false;
  try {
    const before = await readAuthority(needs, request, lease);
    if (typeof before !== 'number') return before;
    const { candidate, expectedOld } = request;
    await sent.sending();
    mayArrive = true;
    const { said, complaint } = await target.move(expectedOld, candidate);
    mayArrive = said !== 'refused';
    const now = await target.read();
    if (now === expectedOld) {
      // Sent and not answered it may still be on its way, and a branch that shows later what it took is not one that said no.
      if (mayArrive) throw portcullisError('remote_unavailable', { reason: complaint || 'it did not move yet' });
      return { outcome: 'refused', by: 'remote', reason: complaint || 'the branch did not move' };
    }
    if (!(await target.holds(now, candidate))) return { outcome: 'base_moved', now };
    mayArrive = false;
    await target.follow(candidate);
    const after = await needs.leases.check(lease);
    const epoch = { before, after: after.epoch };
    return landed(candidate, lease, { epoch, incident: hasChanged(before, after) });
  } finally {
    if (!mayArrive) await sent.answered();
  }
}

function hasChanged(before: number, after: LandingAuthority): boolean {
  return after.state === 'killed' || after.epoch !== before;
}

/** The epoch under which everything authorises the landing; otherwise why nothing moves. */
async function readAuthority(
  needs: LandDependencies,
  request: LandRequest,
  lease: HeldLease,
): Promise<number | LandAnswer> {
  for (let read = 0; read < AUTHORITY_READS; read += 1) {
    const { authorises, reason, epoch } = await permission(needs, request);
    if (!authorises) return { outcome: 'refused', by: 'authority', reason };
    const standing = await needs.leases.check(lease);
    if (standing.state === 'killed') return { outcome: 'refused', by: 'authority', reason: standing.reason };
    if (standing.state === 'lost') return { outcome: 'busy', retryAfterMs: RENEW_MS };
    // What was read before the epoch moved may no longer be so.
    if (standing.epoch === epoch) return epoch;
  }
  return { outcome: 'busy', retryAfterMs: RENEW_MS };
}

async function permission({ mayLand }: LandDependencies, request: LandRequest): Promise<LandingPermission> {
  try {
    return await mayLand(request);
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError) || !UNREADABLE.includes(thrown.code)) throw thrown;
    return { authorises: false, reason: `${thrown.code}: ${thrown.message}`, epoch: request.epoch };
  }
}

function landed(
  commit: string,
  { fencing }: HeldLease,
  under: Pick<Extract<LandAnswer, { outcome: 'landed' }>, 'epoch' | 'incident'>,
): LandAnswer {
  return { outcome: 'landed', commit, fencing, ...under };
}

/** Made by us, which its ref says, and on this base, which is its first parent. */
async function isMadeOf(gitDir: string, candidate: string, base: string): Promise<boolean> {
  if ((await commitAt(gitDir, candidateRef(candidate))) !== candidate) return false;
  return (await commitAt(gitDir, `${candidate}^1`)) === base;
}

async function withRenewal<T>(leases: MergeLeases, lease: HeldLease, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void leases.check(lease).catch(() => {}), RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
