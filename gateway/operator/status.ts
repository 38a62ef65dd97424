/** What an operator asks first: does the gateway reach what it needs, and may anything run. */
import type { StatusAnswer } from '../../schemas/operator-api.ts';
import { requireTemporal } from '../a2a/start.ts';
import type { GatewayContext } from '../context.ts';

export async function gatewayStatus(ctx: GatewayContext, tenant: string): Promise<StatusAnswer> {
  const [memoryUse, temporal, killSwitch] = await Promise.all([
    ctx.store.memoryUse().catch(() => null),
    requireTemporal(ctx).then(
      () => true,
      () => false,
    ),
    ctx.reader.readKillSwitch(tenant).catch(() => null),
  ]);
  const { policy, digest } = ctx.commandPolicy;
  return {
    schema: 'portcullis/gateway-status/v1',
    tenant,
    replica: ctx.replica,
    store: { ok: memoryUse !== null, memoryUse },
    temporal: { ok: temporal, address: ctx.temporalAddress, namespace: ctx.namespace },
    killSwitch,
    policy: { id: policy.id, revision: policy.revision, digest },
  };
}
