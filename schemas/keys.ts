/**
 * The keys of the store, built in one place (spec/store.md). All begin `ns:{tenant}:`.
 *
 * @example keysOf('local').task('abc') // 'ns:local:a2a:abc'
 */
import { digestHex, type Digest } from './digest.ts';
import { checkedName } from './names.ts';
import type { Seat } from './queues.ts';

/** The two streams of a command. */
export const OUTPUT_STREAMS = ['stdout', 'stderr'] as const;
export type OutputStream = (typeof OUTPUT_STREAMS)[number];

const ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/** Every key of one tenant. */
export function keysOf(tenant: string) {
  const ns = `ns:${checkedName('tenant', tenant)}:`;
  const pairKey = (pair: string, leaf: string) => `${ns}pair:${checkedName('pair', pair)}:${leaf}`;
  return {
    prefix: ns,
    /** Role map and base branch of a pair. */
    roles: (pair: string) => pairKey(pair, 'roles'),
    /** Current head commit, execution and generation of a pair. */
    head: (pair: string) => pairKey(pair, 'head'),
    /** Newest result of a pair, by request sequence. */
    verification: (pair: string) => pairKey(pair, 'verification'),
    /** Counter of requests of a pair; gives each request its sequence. */
    requestSequence: (pair: string) => pairKey(pair, 'request-seq'),
    /** Set of the ids of the pair's credentials, so that closing the pair can revoke every one. */
    pairCredentials: (pair: string) => pairKey(pair, 'credentials'),
    authorityEpoch: `${ns}authority:epoch`,
    killSwitch: `${ns}kill-switch`,
    credential: (id: string) => `${ns}credential:${checkedId(id)}`,
    /** A claim code is kept by the digest of the code, never by the code. */
    claimCode: (codeHex: string) => `${ns}claim-code:${checkedId(codeHex)}`,
    /** Set once by whoever uses the code up. */
    claimCodeUsed: (codeHex: string) => `${ns}claim-code:${checkedId(codeHex)}:used`,
    claim: (pair: string, digest: Digest<'request'>) => `${ns}verify:${checkedName('pair', pair)}:${digestHex(digest)}`,
    /** Claims whose start is not known to have happened; the gateway sweeps it. Sorted set of task ids by time. */
    acceptedClaims: `${ns}verify-accepted`,
    message: (hash: string) => `${ns}a2a:msg:${checkedId(hash)}`,
    queue: ({ pair, role, workspaceGeneration }: Omit<Seat, 'tenant'>) =>
      `${ns}queue:${checkedName('pair', pair)}:${role}:${workspaceGeneration}`,
    /** Which boot of the executor started the run of a place: hash of workflow id to boot id. */
    queueStarted: ({ pair, role, workspaceGeneration }: Omit<Seat, 'tenant'>) =>
      `${ns}queue:${checkedName('pair', pair)}:${role}:${workspaceGeneration}:started`,
    presence: ({ pair, role, workspaceGeneration }: Omit<Seat, 'tenant'>) =>
      `${ns}presence:${checkedName('pair', pair)}:${role}:${workspaceGeneration}`,
    /** When the seat was last seen; outlives the lease so that a short absence reads as unknown. */
    presenceSeen: ({ pair, role, workspaceGeneration }: Omit<Seat, 'tenant'>) =>
      `${ns}presence:${checkedName('pair', pair)}:${role}:${workspaceGeneration}:seen`,
    presenceSettling: `${ns}presence:settling`,
    task: (task: string) => `${ns}a2a:${checkedId(task)}`,
    taskEvents: (task: string) => `${ns}a2a:${checkedId(task)}:events`,
    /** Number of each event by its source and offset: what makes a repeated append one event. */
    taskOffsets: (task: string) => `${ns}a2a:${checkedId(task)}:offsets`,
    /** Tasks of a pair by creation time: what ListTasks pages through. */
    pairTasks: (pair: string) => pairKey(pair, 'tasks'),
    request: (task: string) => `${ns}audit:a2a:${checkedId(task)}:request`,
    result: (task: string) => `${ns}audit:a2a:${checkedId(task)}:result`,
    outputChunk: (task: string, stream: OutputStream, index: number) =>
      `${ns}audit:a2a:${checkedId(task)}:${stream}:${index}`,
    /** What a result calls `stdout_ref`: the family of that stream's chunks. */
    outputRef: (task: string, stream: OutputStream) => `${ns}audit:a2a:${checkedId(task)}:${stream}`,
    rejected: `${ns}audit:a2a:rejected`,
    auditEntry: (n: number) => `${ns}audit:${n}`,
    auditHead: `${ns}audit:head`,
  };
}

export type Keys = ReturnType<typeof keysOf>;

/** Kill switch of the whole installation. */
export const GLOBAL_KILL_SWITCH = 'ns:_global:kill-switch';

function checkedId(id: string): string {
  if (!ID_PATTERN.test(id)) return checkedName('id', id);
  return id;
}
