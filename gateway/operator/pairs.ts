/** Pairs and the kill switch: what only the control plane may write, asked of it through a workflow. */
import { randomBytes } from 'node:crypto';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName, EXECUTOR_ROLES } from '../../schemas/names.ts';
import type { PairRoles } from '../../schemas/pair.ts';
import type {
  ClosePairAnswer,
  KillSwitchAnswer,
  KillSwitchRequest,
  OpenPairAnswer,
  OpenPairRequest,
  PairAnswer,
} from '../../schemas/operator-api.ts';
import {
  GATEWAY_WORKFLOWS,
  type ClosePairInput,
  type ClosePairResult,
  type OpenPairInput,
  type OpenPairResult,
  type SetKillSwitchInput,
  type SetKillSwitchResult,
} from '../../schemas/verify/workflow.ts';
import { closePairWorkflowId, killSwitchWorkflowId, openPairWorkflowId } from '../../schemas/workflow-ids.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { importedBytes } from './imports.ts';
import { runControlWorkflow } from './workflows.ts';

/** The rest is a few writes. */
const OPEN_WAIT_MS = 120_000;
/** Each object of a bundle is checked, twice where history is cut. */
const OPEN_WAIT_MS_PER_GIB = 180_000;
const WAIT_MS = 30_000;

export async function openPair(ctx: GatewayContext, by: Principal, request: OpenPairRequest): Promise<OpenPairAnswer> {
  const { tenant } = by;
  const { pair, headSha, importId } = request;
  const bytes = importId === null ? 0 : await importedBytes(ctx, tenant, importId);
  const input: OpenPairInput = { ...request, tenant, by: by.id };
  const result = await runControlWorkflow<OpenPairResult>(ctx, {
    type: GATEWAY_WORKFLOWS.openPair,
    workflowId: openPairWorkflowId({ tenant, pair }),
    tenant,
    pair,
    input,
    summary: `open ${pair} at ${headSha.slice(0, 12)}`,
    waitMs: OPEN_WAIT_MS + Math.ceil(bytes / 2 ** 30) * OPEN_WAIT_MS_PER_GIB,
  });
  return { schema: 'portcullis/pair-opened/v1', ...result };
}

export async function closePair(ctx: GatewayContext, by: Principal, pair: string): Promise<ClosePairAnswer> {
  const { tenant } = by;
  const input: ClosePairInput = { tenant, pair: checkedName('pair', pair), by: by.id };
  const result = await runControlWorkflow<ClosePairResult>(ctx, {
    type: GATEWAY_WORKFLOWS.closePair,
    workflowId: closePairWorkflowId({ tenant, pair }),
    tenant,
    pair,
    input,
    summary: `close ${pair}`,
    waitMs: WAIT_MS,
  });
  return { schema: 'portcullis/pair-closed/v1', ...result };
}

/** @throws `not_found` for a pair that was never opened */
export async function showPair(ctx: GatewayContext, tenant: string, pair: string): Promise<PairAnswer> {
  checkedName('pair', pair);
  const [roles, head] = await Promise.all([ctx.reader.readRoles(tenant, pair), ctx.reader.readHead(tenant, pair)]);
  if (roles === null || head === null) throw portcullisError('not_found', { what: 'pair', id: pair });
  return { schema: 'portcullis/pair/v1', head, roles, presence: await presenceOf(ctx, tenant, roles) };
}

/** Whether the executor of each role that has a workspace is at the door now. */
async function presenceOf(ctx: GatewayContext, tenant: string, roles: PairRoles): Promise<PairAnswer['presence']> {
  const { pair, workspaces } = roles;
  const seen = EXECUTOR_ROLES.map(async (role) => {
    const workspace = workspaces[role];
    if (workspace === undefined) return [];
    const seat = { tenant, pair, role, workspaceGeneration: workspace.generation };
    return [[role, await ctx.reader.readPresence(seat)] as const];
  });
  return Object.fromEntries((await Promise.all(seen)).flat());
}

export async function readKillSwitch(ctx: GatewayContext, tenant: string): Promise<KillSwitchAnswer> {
  const active = await ctx.reader.readKillSwitch(tenant);
  return { schema: 'portcullis/kill-switch-state/v1', active, cancelled: null, tickets: null };
}

/** @throws `not_allowed` for the switch of every tenant, unless this installation has one tenant only */
export async function turnKillSwitch(
  ctx: GatewayContext,
  by: Principal,
  request: KillSwitchRequest,
): Promise<KillSwitchAnswer> {
  const { tenant } = by;
  const scope = request.scope ?? 'tenant';
  if (scope === 'installation' && ctx.tenants.length > 1) {
    throw portcullisError('not_allowed', { action: 'turn the kill switch of other tenants' });
  }
  const { on, reason, cancelRunning } = request;
  const input: SetKillSwitchInput = { tenant, scope, on, reason, by: by.id, cancelRunning };
  const { cancelled, tickets } = await runControlWorkflow<SetKillSwitchResult>(ctx, {
    type: GATEWAY_WORKFLOWS.setKillSwitch,
    workflowId: killSwitchWorkflowId({ tenant, serial: randomBytes(8).toString('hex') }),
    tenant,
    pair: null,
    input,
    summary: `kill switch ${on ? 'on' : 'off'}: ${reason}`,
    waitMs: WAIT_MS,
  });
  return { ...(await readKillSwitch(ctx, tenant)), cancelled, tickets };
}
