/** Health, readiness and metrics. They need no credential and say nothing about anybody's work. */
import { Router } from 'express';
import type { GatewayContext } from '../context.ts';
import type { StoreWatch } from '../presence/store-watch.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What does not answer: `store`, `temporal`. */
  readonly missing: readonly string[];
}

const TEMPORAL_PROBE_MS = 2_000;

export function healthRouter(ctx: GatewayContext, watch: StoreWatch): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ healthy: true, replica: ctx.replica });
  });
  router.get('/readyz', async (_req, res) => {
    const readiness = await readinessOf(ctx, watch);
    res.status(readiness.ready ? 200 : 503).json(readiness);
  });
  router.get('/metrics', async (_req, res) => {
    res.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics());
  });
  return router;
}

export async function readinessOf(ctx: GatewayContext, watch: StoreWatch): Promise<Readiness> {
  const missing = [...(watch.answers ? [] : ['store']), ...((await temporalAnswers(ctx)) ? [] : ['temporal'])];
  return { ready: missing.length === 0, missing };
}

async function temporalAnswers({ temporal, namespace }: GatewayContext): Promise<boolean> {
  try {
    await temporal.withDeadline(Date.now() + TEMPORAL_PROBE_MS, () =>
      temporal.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  }
}
