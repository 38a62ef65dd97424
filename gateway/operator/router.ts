/** The operator API (schemas/operator-api.ts). Mount it at the root of an app that has read no body yet. */
import { Router } from 'express';
import { killSwitchRequestSchema, openPairRequestSchema } from '../../schemas/operator-api.schema.ts';
import { OPERATOR_PATHS } from '../../schemas/operator-api.ts';
import type { GatewayContext } from '../context.ts';
import { parsed } from '../http/body.ts';
import { takeImport } from './imports.ts';
import { operations } from './operations.ts';
import { closePair, openPair, readKillSwitch, showPair, turnKillSwitch } from './pairs.ts';
import { gatewayStatus } from './status.ts';
import { listTasks, sendOutput, showTask, taskQuery } from './tasks.ts';

export function operatorRouter(ctx: GatewayContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { run, body, parameter } = operations(ctx);

  router.post(
    OPERATOR_PATHS.imports,
    run((by, req) => takeImport(ctx, by.tenant, req)),
  );
  router.post(
    OPERATOR_PATHS.pairs,
    run(async (by, req) => openPair(ctx, by, parsed(openPairRequestSchema, await body(req)))),
  );
  router.get(
    `${OPERATOR_PATHS.pairs}/:pair`,
    run((by, req) => showPair(ctx, by.tenant, parameter(req, 'pair'))),
  );
  router.delete(
    `${OPERATOR_PATHS.pairs}/:pair`,
    run((by, req) => closePair(ctx, by, parameter(req, 'pair'))),
  );
  router.get(
    OPERATOR_PATHS.tasks,
    run((by, req) => listTasks(ctx, by.tenant, taskQuery(new URL(req.originalUrl, 'http://localhost').searchParams))),
  );
  router.get(
    `${OPERATOR_PATHS.tasks}/:task`,
    run((by, req) => showTask(ctx, by.tenant, parameter(req, 'task'))),
  );
  router.get(
    `${OPERATOR_PATHS.tasks}/:task/output/:stream`,
    run((by, req, res) => sendOutput(ctx, by.tenant, parameter(req, 'task'), parameter(req, 'stream'), res)),
  );
  router.get(
    OPERATOR_PATHS.killSwitch,
    run((by) => readKillSwitch(ctx, by.tenant)),
  );
  router.put(
    OPERATOR_PATHS.killSwitch,
    run(async (by, req) => turnKillSwitch(ctx, by, parsed(killSwitchRequestSchema, await body(req)))),
  );
  router.get(
    OPERATOR_PATHS.status,
    run((by) => gatewayStatus(ctx, by.tenant)),
  );
  return router;
}
