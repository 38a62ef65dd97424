/** The operator API of tickets, workspaces and incidents. Mount it beside `operatorRouter`. */
import { Router } from 'express';
import { lifecycleReader } from '../../activities/store/lifecycle.ts';
import { gateReader } from '../../activities/store/gate-reader.ts';
import { ticketReader } from '../../activities/store/tickets.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { portcullisError } from '../../schemas/errors.ts';
import {
  decideGateRequestSchema,
  decideTicketRequestSchema,
  rulingRequestSchema,
  startTicketRequestSchema,
  teardownRequestSchema,
} from '../../schemas/operator-api.schema.ts';
import { ORCHESTRATION_PATHS } from '../../schemas/operator-api.ts';
import type { GatewayContext } from '../context.ts';
import { parsed } from '../http/body.ts';
import { operations } from './operations.ts';
import { decideGate, decideTicket, listTickets, showTicket, startTicket } from './tickets.ts';
import { listIncidents, listWorkspaces, rule, showWorkspace, tearDown } from './workspaces.ts';

const LIST_LIMIT = 500;

/** `reader`: a connection of the store's user `reader`. */
export function orchestrationRouter(ctx: GatewayContext, reader: StoreConnection): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { run, body, parameter } = operations(ctx);
  const tickets = ticketReader(reader);
  const lifecycle = lifecycleReader(reader);
  const evidence = gateReader(reader);
  const { tickets: ticketsPath, workspaces: workspacesPath, incidents: incidentsPath } = ORCHESTRATION_PATHS;

  router.post(
    ticketsPath,
    run(async (by, req) => startTicket(ctx, evidence, by, parsed(startTicketRequestSchema, await body(req)))),
  );
  router.get(
    ticketsPath,
    run((by, req) => listTickets(tickets, by.tenant, limitOf(req.originalUrl))),
  );
  router.get(
    `${ticketsPath}/:ticket`,
    run((by, req) => showTicket(tickets, by.tenant, parameter(req, 'ticket'))),
  );
  router.post(
    `${ticketsPath}/:ticket/decision`,
    run(async (by, req) =>
      decideTicket(ctx, by, parameter(req, 'ticket'), parsed(decideTicketRequestSchema, await body(req))),
    ),
  );
  router.post(
    `${ticketsPath}/:ticket/gate-decision`,
    run(async (by, req) =>
      decideGate(ctx, by, parameter(req, 'ticket'), parsed(decideGateRequestSchema, await body(req))),
    ),
  );
  router.get(
    workspacesPath,
    run((by, req) => listWorkspaces(lifecycle, by.tenant, limitOf(req.originalUrl))),
  );
  router.get(
    `${workspacesPath}/:workspace`,
    run((by, req) => showWorkspace(lifecycle, by.tenant, parameter(req, 'workspace'))),
  );
  router.post(
    `${workspacesPath}/:workspace/teardown`,
    run(async (by, req) =>
      tearDown(ctx, lifecycle, by, parameter(req, 'workspace'), parsed(teardownRequestSchema, await body(req))),
    ),
  );
  router.get(
    incidentsPath,
    run((by, req) => listIncidents(lifecycle, by.tenant, limitOf(req.originalUrl))),
  );
  router.post(
    `${incidentsPath}/:incident/ruling`,
    run(async (by, req) =>
      rule(ctx, { lifecycle, tickets }, by, parameter(req, 'incident'), parsed(rulingRequestSchema, await body(req))),
    ),
  );
  return router;
}

function limitOf(url: string): number {
  const text = new URL(url, 'http://localhost').searchParams.get('limit') ?? '50';
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= LIST_LIMIT) return limit;
  throw portcullisError('schema_invalid', { path: 'limit', reason: `must be a whole number from 1 to ${LIST_LIMIT}` });
}
