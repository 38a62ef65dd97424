/** The operator API's calls about decisions (schemas/gate/operator-api.ts). */
import { Router } from 'express';
import { GATE_PATHS } from '../../schemas/gate/operator-api.ts';
import type { GatewayContext } from '../context.ts';
import { gateHistory, showGate, type GateReading } from './gates.ts';
import { operations } from './operations.ts';

export function gatesRouter(ctx: GatewayContext, gates: GateReading): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { run, parameter } = operations(ctx);
  router.get(
    `${GATE_PATHS.root}/:id`,
    run((by, req) => showGate(gates, by.tenant, parameter(req, 'id'))),
  );
  router.get(
    `${GATE_PATHS.root}/:id/history`,
    run((by, req) => gateHistory(gates, by.tenant, parameter(req, 'id'))),
  );
  return router;
}
