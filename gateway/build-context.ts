/** Makes the context of a gateway from its connections: the same for the real process and for a test's own. */
import { randomUUID } from 'node:crypto';
import { Allowance } from './authority/allowance.ts';
import { CredentialCache } from './authority/credentials.ts';
import type { GatewayContext } from './context.ts';
import { DEFAULT_LIMITS, type GatewayLimits } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';

type Given = Omit<GatewayContext, 'replica' | 'metrics' | 'limits' | 'credentials' | 'allowances'>;

/** `limits`: those that differ from {@link DEFAULT_LIMITS}. */
export function buildContext(given: Given, limits: Partial<GatewayLimits> = {}): GatewayContext {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return {
    ...given,
    replica: randomUUID(),
    metrics: gatewayMetrics(),
    limits: all,
    credentials: new CredentialCache(given.store),
    allowances: {
      calls: new Allowance({ perSecond: all.callsPerSecond, burst: all.callsBurst }),
      bytes: new Allowance({ perSecond: all.bytesPerSecond, burst: all.bytesBurst }),
      exchanges: new Allowance({ perSecond: all.exchangesPerSecond, burst: all.exchangesBurst }),
    },
  };
}
