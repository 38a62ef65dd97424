/** The operator API's calls about decisions and their evidence (schemas/gate/operator-api.ts, evidence-api.ts). */
import { Router, type Request } from 'express';
import { EVIDENCE_PATHS } from '../../schemas/gate/evidence-api.ts';
import { GATE_PATHS } from '../../schemas/gate/operator-api.ts';
import type { GatewayContext } from '../context.ts';
import { showEvidence, ticketFindings } from './evidence.ts';
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
  router.get(
    `${EVIDENCE_PATHS.evidence}/:digest`,
    run((by, req) => showEvidence(gates.reader, by.tenant, parameter(req, 'digest'), ticketOf(req))),
  );
  router.get(
    `${EVIDENCE_PATHS.findings}/:ticket`,
    run((by, req) => ticketFindings(gates.reader, by.tenant, parameter(req, 'ticket'))),
  );
  return router;
}

function ticketOf(req: Request): string | null {
  return new URL(req.originalUrl, 'http://localhost').searchParams.get('ticket');
}
