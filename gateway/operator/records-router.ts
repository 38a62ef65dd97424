/** The operator API's calls that read what was kept (schemas/records-api.ts). */
import { Router, type Request } from 'express';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { RECORDS_PATHS } from '../../schemas/records-api.ts';
import type { GatewayContext } from '../context.ts';
import { operations } from './operations.ts';
import { auditPage, eventPage, pageQuery } from './records.ts';

export function recordsRouter(ctx: GatewayContext, reader: StoreConnection): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { run } = operations(ctx);
  router.get(
    RECORDS_PATHS.audit,
    run((by, req) => auditPage(reader, by.tenant, queryOf(req))),
  );
  router.get(
    RECORDS_PATHS.events,
    run((by, req) => eventPage(reader, by.tenant, queryOf(req))),
  );
  return router;
}

function queryOf(req: Request) {
  return pageQuery(new URL(req.originalUrl, 'http://localhost').searchParams);
}
