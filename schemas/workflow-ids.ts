/**
 * Workflow ids are natural keys. Each type has one builder and its inverse; nobody joins an id elsewhere
 * (DESIGN section 2).
 *
 * @example verifyWorkflowId({ tenant: 'local', pair: 'local-1', digest, n: 1 }) // 'verify/local/local-1/<hex>/1'
 */
import { digestHex, parseDigest, type Digest } from './digest.ts';
import { portcullisError } from './errors.ts';
import { checkedName } from './names.ts';

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

/** The workflow that turns a tenant's kill switch; `serial` tells one turn from the next. */
export function killSwitchWorkflowId({ tenant, serial }: { readonly tenant: string; readonly serial: string }): string {
  return ['kill-switch', checkedName('tenant', tenant), checkedName('serial', serial)].join('/');
}

/** @throws `schema_invalid` */
export function parseKillSwitchWorkflowId(id: string): { readonly tenant: string; readonly serial: string } {
  const [tenant, serial] = partsOf(id, 'kill-switch', 2);
  return { tenant, serial };
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
