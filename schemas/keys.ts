/**
 * The keys of the store, built in one place (spec/store.md). All begin `ns:{tenant}:`.
 *
 * @example keysOf('local').task('abc') // 'ns:local:a2a:abc'
 */
import { contentDigest, digestHex, type ContentDigest, type Digest } from './digest.ts';
import { portcullisError } from './errors.ts';
import { checkedBranch } from './git/refs.ts';
import { checkedName, type Role } from './names.ts';
import type { Seat } from './queues.ts';

/** The two streams of a command. */
export const OUTPUT_STREAMS = ['stdout', 'stderr'] as const;
export type OutputStream = (typeof OUTPUT_STREAMS)[number];

const ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/** Ids of gate records. They may hold colons: such a key ends in parts that hold none, so no two of them are the same. */
const RECORD_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/;

/** Families of immutable evidence, each record under its own digest. */
export const EVIDENCE_FAMILIES = ['evidence', 'finding', 'disposition', 'human'] as const;
export type EvidenceFamily = (typeof EVIDENCE_FAMILIES)[number];

/** What the index of a check is bound to: a record of another head, ticket or execution is in another index. */
export interface CheckIndexRef {
  readonly checkId: string;
  readonly definitionDigest: Digest<'definition'>;
  /** See `headOf`. */
  readonly head: string;
  /** Executions are named within a ticket: two tickets can have the same head and both an execution of the same name. */
  readonly ticket: string;
  readonly executionId: string;
  readonly executionGeneration: number;
}

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
    /** Who may land on the branch now; a branch may have slashes, never a colon. */
    mergeLease: (repository: string, branch: string) =>
      `${ns}merge-lease:${checkedName('repository', repository)}:${checkedBranch(branch)}`,
    /** Fencing numbers of that lease; outlives every lease. */
    mergeFence: (repository: string, branch: string) =>
      `${ns}merge-fence:${checkedName('repository', repository)}:${checkedBranch(branch)}`,
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
    /** What the workspace of a role is asked now. */
    assignment: (pair: string, role: Role) => `${ns}assignment:${checkedName('pair', pair)}:${role}`,
    /** Binding of an approval, who used it up, and which one of a pair may be used now. */
    approval: (id: string) => `${ns}approval:${checkedId(id)}`,
    approvalUsed: (id: string) => `${ns}approval:${checkedId(id)}:used`,
    currentApproval: (pair: string) => pairKey(pair, 'approval'),
    /** Bytes that a reviewing workspace appended, and the list of what it did. */
    review: (pair: string, workspaceGeneration: number, hex: string) =>
      `${ns}review:${checkedName('pair', pair)}:${workspaceGeneration}:${checkedId(hex)}`,
    reviews: (pair: string, workspaceGeneration: number) =>
      `${ns}reviews:${checkedName('pair', pair)}:${workspaceGeneration}`,
    /** A subject manifest under its digest. */
    subject: (digest: Digest<'subject'>) => `${ns}subject:${digestHex(digest)}`,
    /** Newest registered subject of a gate of the ticket: what applicability compares a decision with. */
    subjectHead: (ticket: string, gate: string) => pairKey(ticket, `subject:${gate}`),
    /** An attempt, result, run, finding, disposition or human decision under its digest. */
    evidence: (family: EvidenceFamily, digest: ContentDigest) => `${ns}${family}:${digestHex(digest)}`,
    /** A gate policy, a gate definition or a check definition under its digest. */
    policyDocument: (digest: ContentDigest) => `${ns}policy:${digestHex(digest)}`,
    /** Policy and definition that a gate applies now. */
    policyHead: (gate: string) => `${ns}policy:head:${checkedId(gate)}`,
    /** A person's words under the digest of their record. */
    reason: (digest: ContentDigest) => `${ns}reason:${digestHex(digest)}`,
    grant: (id: string, revision: number) => `${ns}grant:${checkedRecordId(id)}:${revision}`,
    /** Set once when a grant or a principal is revoked; by the digest of its name, which may be longer than an id. */
    revoked: (authority: string) => `${ns}revoked:${digestHex(contentDigest(new TextEncoder().encode(authority)))}`,
    /** Append-only: subjects of a ticket in the order in which they were registered. */
    ticketIndex: (ticket: string) => `${ns}index:ticket:${checkedName('ticket', ticket)}`,
    /** Append-only: runs, findings, dispositions and human decisions of a subject. */
    subjectIndex: (digest: Digest<'subject'>) => `${ns}index:subject:${digestHex(digest)}`,
    /** Append-only: every attempt of a check, and what closed it. */
    checkIndex: (of: CheckIndexRef) =>
      [
        `${ns}index:check`,
        checkedRecordId(of.checkId),
        digestHex(of.definitionDigest),
        checkedId(of.head.replace(':', '-')),
        checkedName('ticket', of.ticket),
        checkedName('execution', of.executionId),
        of.executionGeneration,
      ].join(':'),
    /** A signed decision under its evaluation key. */
    decision: (key: Digest<'gate-evaluation'>) => `${ns}decision:${digestHex(key)}`,
    /** The n-th decision about a subject, counting from 1: its evaluation key. */
    decisionOf: (subject: Digest<'subject'>, n: number) => `${ns}decision:of:${digestHex(subject)}:${n}`,
    /** Set once when a second evaluation disagreed. */
    contradicted: (key: Digest<'gate-evaluation'>) => `${ns}contradiction:${digestHex(key)}`,
    contradiction: (key: Digest<'gate-evaluation'>, decision: Digest<'decision'>) =>
      `${ns}contradiction:${digestHex(key)}:${digestHex(decision)}`,
    /** Projection of one workspace; its id is its name at Coder. */
    workspace: (id: string) => `${ns}workspace:${checkedId(id)}`,
    /** Projection of a ticket. */
    ticketStatus: (ticket: string) => `${ns}ticket:${checkedName('ticket', ticket)}:status`,
    /** Ids of tickets by the time of their last change. */
    tickets: `${ns}tickets`,
    /** Ids of those that have not ended. */
    openTickets: `${ns}tickets:open`,
    /** Ids of workspaces by the time of their last write. */
    workspaces: `${ns}workspaces`,
    /** Ids of those that are not over. */
    openWorkspaces: `${ns}workspaces:open`,
    incident: (id: string) => `${ns}incident:${checkedId(id)}`,
    /** Ids of incidents by the time they were opened. */
    incidents: `${ns}incidents`,
    /** Projection of the slots of a role. */
    slots: (role: string) => `${ns}slots:${checkedName('role', role)}`,
    /** Lifecycle events, ids `{seq}-0`; capped. What fell off is the last number less the length. */
    eventRing: `${ns}event_ring`,
    /** Open recovery records by run. */
    flowRecovery: `${ns}flow_recovery`,
    /** What the reconciler saw in its last round and believes when it sees it again. */
    reconcileSuspects: `${ns}reconcile:suspects`,
    auditEntry: (n: number) => `${ns}audit:${n}`,
    auditHead: `${ns}audit:head`,
    /** Number of the entry of what is entered once; `hex` is over its event and refs. */
    auditMark: (hex: string) => `${ns}audit-mark:${checkedId(hex)}`,
  };
}

export type Keys = ReturnType<typeof keysOf>;

/** Kill switch of the whole installation. */
export const GLOBAL_KILL_SWITCH = 'ns:_global:kill-switch';

function checkedId(id: string): string {
  if (!ID_PATTERN.test(id)) return checkedName('id', id);
  return id;
}

function checkedRecordId(id: string): string {
  if (!RECORD_ID_PATTERN.test(id)) {
    throw portcullisError('schema_invalid', { path: 'id', reason: `must match ${RECORD_ID_PATTERN.source}` });
  }
  return id;
}
