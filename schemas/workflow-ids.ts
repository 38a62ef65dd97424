/**
 * Workflow ids are natural keys. Each type has one builder and its inverse; nobody joins an id elsewhere
 * (DESIGN section 2).
 *
 * @example verifyWorkflowId({ tenant: 'local', pair: 'local-1', digest, n: 1 }) // 'verify/local/local-1/<hex>/1'
 */
import { digestHex, parseDigest, type Digest } from './digest.ts';
import { portcullisError } from './errors.ts';
import { GATE_KINDS, type GateKind } from './gate/vocabulary.ts';
import { checkedName } from './names.ts';
import { isWorkspaceRole, type WorkspaceRole } from './workspace/workflow.ts';

export interface VerifyRun {
  readonly tenant: string;
  readonly pair: string;
  readonly digest: Digest<'request'>;
  /** Which run of this digest: ours, +1 each time the claim is taken again. */
  readonly n: number;
}

export function verifyWorkflowId({ tenant, pair, digest, n }: VerifyRun): string {
  return ['verify', checkedName('tenant', tenant), checkedName('pair', pair), digestHex(digest), counted(n)].join('/');
}

/** @throws `schema_invalid` when the text is not the id of a verify workflow. */
export function parseVerifyWorkflowId(id: string): VerifyRun {
  const [tenant, pair, hex, n] = partsOf(id, 'verify', 4);
  return { tenant, pair, digest: parseDigest('request', `sha256:${hex}`), n: parseCount(n) };
}

export interface PairRef {
  readonly tenant: string;
  readonly pair: string;
}

/** The workflow that opens a pair on the local stack: imports its repository, writes heads, roles and credentials. */
export function openPairWorkflowId({ tenant, pair }: PairRef): string {
  return ['open-pair', checkedName('tenant', tenant), checkedName('pair', pair)].join('/');
}

/** @throws `schema_invalid` */
export function parseOpenPairWorkflowId(id: string): PairRef {
  const [tenant, pair] = partsOf(id, 'open-pair', 2);
  return { tenant, pair };
}

/** The workflow that closes a pair: revokes its credentials. */
export function closePairWorkflowId({ tenant, pair }: PairRef): string {
  return ['close-pair', checkedName('tenant', tenant), checkedName('pair', pair)].join('/');
}

/** @throws `schema_invalid` */
export function parseClosePairWorkflowId(id: string): PairRef {
  const [tenant, pair] = partsOf(id, 'close-pair', 2);
  return { tenant, pair };
}

/** The workflow that closes the incident of a landing whose ticket has ended. */
export function closeIncidentWorkflowId({ tenant, incident }: IncidentRef): string {
  return ['close-incident', checkedName('tenant', tenant), checkedName('incident', incident)].join('/');
}

/** @throws `schema_invalid` */
export function parseCloseIncidentWorkflowId(id: string): IncidentRef {
  const [tenant, incident] = partsOf(id, 'close-incident', 2);
  return { tenant, incident };
}

export interface IncidentRef {
  readonly tenant: string;
  readonly incident: string;
}

/** The workflow that turns a tenant's kill switch; `serial` tells one turn from the next. */
export function killSwitchWorkflowId({ tenant, serial }: { readonly tenant: string; readonly serial: string }): string {
  return ['kill-switch', checkedName('tenant', tenant), checkedName('serial', serial)].join('/');
}

/** @throws `schema_invalid` */
export function parseKillSwitchWorkflowId(id: string): { readonly tenant: string; readonly serial: string } {
  const [tenant, serial] = partsOf(id, 'kill-switch', 2);
  return { tenant, serial };
}

export interface GateRun {
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly kind: GateKind;
  /** Which evaluation of this subject and kind. */
  readonly n: number;
}

/** One evaluation of a gate. */
export function gateWorkflowId({ tenant, subjectDigest, kind, n }: GateRun): string {
  return ['gate', checkedName('tenant', tenant), digestHex(subjectDigest), kind, counted(n)].join('/');
}

/** @throws `schema_invalid` */
export function parseGateWorkflowId(id: string): GateRun {
  const [tenant, hex, word, n] = partsOf(id, 'gate', 4);
  const kind = GATE_KINDS.find((known) => known === word);
  if (kind === undefined)
    throw portcullisError('schema_invalid', { path: 'workflow id', reason: 'names no gate kind' });
  return { tenant, subjectDigest: parseDigest('subject', `sha256:${hex}`), kind, n: parseCount(n) };
}

export interface VerificationRef {
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
  /** Number of the ticket's evaluation. */
  readonly n: number;
}

/** One verification of one subject. */
export function verificationWorkflowId({ tenant, subjectDigest, n }: VerificationRef): string {
  return ['verification', checkedName('tenant', tenant), digestHex(subjectDigest), counted(n)].join('/');
}

/** @throws `schema_invalid` */
export function parseVerificationWorkflowId(id: string): VerificationRef {
  const [head, tenant, hex, n, ...rest] = id.split('/');
  if (head !== 'verification' || tenant === undefined || hex === undefined || n === undefined || rest.length > 0) {
    throw portcullisError('schema_invalid', { path: 'workflow id', reason: 'is not of the form verification/…' });
  }
  return {
    tenant: checkedName('tenant', tenant),
    subjectDigest: parseDigest('subject', `sha256:${hex}`),
    n: parseCount(n),
  };
}

/** Anchors the audit chain of a tenant: also the id of its Schedule. */
export function anchorWorkflowId(tenant: string): string {
  return ['anchor', checkedName('tenant', tenant)].join('/');
}

/** @throws `schema_invalid` */
export function parseAnchorWorkflowId(id: string): string {
  const [tenant] = partsOf(id, 'anchor', 1);
  return tenant;
}

/** The reconciler of a tenant: also the id of its Schedule. */
export function reconcileWorkflowId(tenant: string): string {
  return ['reconcile', checkedName('tenant', tenant)].join('/');
}

/** @throws `schema_invalid` */
export function parseReconcileWorkflowId(id: string): string {
  const [tenant] = partsOf(id, 'reconcile', 1);
  return tenant;
}

export interface TicketRef {
  readonly tenant: string;
  readonly ticket: string;
}

/** The owner of a ticket's state. */
export function ticketWorkflowId({ tenant, ticket }: TicketRef): string {
  return ['ticket', checkedName('tenant', tenant), checkedName('ticket', ticket)].join('/');
}

/** @throws `schema_invalid` */
export function parseTicketWorkflowId(id: string): TicketRef {
  const [tenant, ticket] = partsOf(id, 'ticket', 2);
  return { tenant: checkedName('tenant', tenant), ticket: checkedName('ticket', ticket) };
}

/** One workspace of one role of a ticket. */
export interface WorkspaceRun {
  readonly tenant: string;
  readonly ticket: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
}

/** Owner of a workspace, and the run that the workspace, its chats and its compute carry. */
export function workspaceWorkflowId({ tenant, ticket, role, workspaceGeneration }: WorkspaceRun): string {
  return [
    'workspace',
    checkedName('tenant', tenant),
    checkedName('ticket', ticket),
    role,
    counted(workspaceGeneration),
  ].join('/');
}

/** @throws `schema_invalid` when the text is not the id of a workspace workflow. */
export function parseWorkspaceWorkflowId(id: string): WorkspaceRun {
  const [tenant, ticket, role, generation] = partsOf(id, 'workspace', 4);
  return {
    tenant: checkedName('tenant', tenant),
    ticket: checkedName('ticket', ticket),
    role: parseWorkspaceRole(role),
    workspaceGeneration: parseCount(generation),
  };
}

export interface SlotsRef {
  readonly tenant: string;
  readonly role: WorkspaceRole;
}

/** The fair semaphore of a role. */
export function slotsWorkflowId({ tenant, role }: SlotsRef): string {
  return ['slots', checkedName('tenant', tenant), role].join('/');
}

/** @throws `schema_invalid` */
export function parseSlotsWorkflowId(id: string): SlotsRef {
  const [tenant, role] = partsOf(id, 'slots', 2);
  return { tenant: checkedName('tenant', tenant), role: parseWorkspaceRole(role) };
}

export interface StrayRef {
  readonly tenant: string;
  /** Coder's id of the workspace. */
  readonly coderWorkspaceId: string;
}

/** The destroyer of a workspace of the service user that carries no run of ours. */
export function strayWorkflowId({ tenant, coderWorkspaceId }: StrayRef): string {
  return ['stray', checkedName('tenant', tenant), checkedName('workspace', coderWorkspaceId)].join('/');
}

/** @throws `schema_invalid` */
export function parseStrayWorkflowId(id: string): StrayRef {
  const [tenant, coderWorkspaceId] = partsOf(id, 'stray', 2);
  return { tenant, coderWorkspaceId };
}

function parseWorkspaceRole(text: string): WorkspaceRole {
  if (isWorkspaceRole(text)) return text;
  throw portcullisError('schema_invalid', { path: 'role', reason: 'has no workspace' });
}

function partsOf<const N extends number>(id: string, type: string, count: N): Tuple<N> {
  const [head, ...rest] = id.split('/');
  if (head !== type || rest.length !== count || rest.some((part) => part === '')) {
    throw portcullisError('schema_invalid', { path: 'workflow id', reason: `is not of the form ${type}/…` });
  }
  // The length was compared just above; the compiler cannot follow it.
  return rest as unknown as Tuple<N>;
}

type Tuple<N extends number> = N extends 1
  ? [string]
  : N extends 2
    ? [string, string]
    : N extends 4
      ? [string, string, string, string]
      : never;

function counted(n: number): string {
  if (!Number.isSafeInteger(n) || n < 1) {
    throw portcullisError('schema_invalid', { path: 'n', reason: 'must be a positive integer' });
  }
  return String(n);
}

function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) {
    throw portcullisError('schema_invalid', { path: 'n', reason: 'must be a positive integer' });
  }
  return Number(text);
}
