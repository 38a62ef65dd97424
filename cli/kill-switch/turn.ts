import type { GatewayClient } from '../../client/gateway-client.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { KillSwitchAnswer, KillSwitchRequest } from '../../schemas/operator-api.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration, type Output } from '../output.ts';

/** Turns the switch and says what stands now. @returns 0. @throws `usage` without a reason, `not_allowed` */
export async function turnKillSwitch(context: CliContext, request: KillSwitchRequest): Promise<number> {
  if (request.reason.trim() === '') throw portcullisError('usage', { reason: '--reason must say why' });
  const client = operatorClient(context);
  const tenant = await ownTenant(context, client);
  if (request.cancelRunning) context.output.progress(`Turning on, then cancelling what runs in ${tenant}.`);
  show(context.output, tenant, await client.turnKillSwitch(request));
  return 0;
}

/** @returns 0, whether or not one is on */
export async function showKillSwitch(context: CliContext): Promise<number> {
  const client = operatorClient(context);
  show(context.output, await ownTenant(context, client), await client.killSwitch());
  return 0;
}

/**
 * The tenant is the credential's own. One that was named and is another must not look as if it had been switched off.
 * @throws `not_allowed`
 */
async function ownTenant({ settings }: CliContext, client: GatewayClient): Promise<string> {
  const { tenant } = await client.status();
  const named = settings.origin('tenant') === 'flag' ? settings.get('tenant') : null;
  if (named !== null && named !== tenant) {
    throw portcullisError('not_allowed', { action: `see or turn the kill switch of the tenant ${named}` });
  }
  return tenant;
}

function show(output: Output, tenant: string, { active, cancelled, tickets }: KillSwitchAnswer): void {
  const value = {
    tenant,
    on: active !== null,
    reason: active?.reason ?? null,
    by: active?.by ?? null,
    at: active?.at ?? null,
    cancelled,
    tickets,
  };
  const state =
    active === null
      ? `${output.style('good', 'off')}  ${tenant} takes requests`
      : `${output.style('bad', 'on')}  ${tenant} refuses every new request: ${active.reason} (${active.by}, ${duration(Date.now() - active.at)} ago)`;
  const told = cancelled === null || cancelled === 0 ? '' : `\nTold ${cancelled} running verifications to cancel.`;
  const stopped =
    tickets === null || tickets === 0
      ? ''
      : `\nTold ${tickets} open tickets to stop; each goes on when an operator says so.`;
  output.result('KillSwitch', value, `${state}${told}${stopped}`);
}
