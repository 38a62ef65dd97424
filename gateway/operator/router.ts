/** The operator API (schemas/operator-api.ts). Mount it at the root of an app that has read no body yet. */
import { Router, type Request, type Response } from 'express';
import { killSwitchRequestSchema, openPairRequestSchema } from '../../schemas/operator-api.schema.ts';
import { OPERATOR_PATHS } from '../../schemas/operator-api.ts';
import { authenticate, requireUse, type Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { parsed, readJsonBody } from '../http/body.ts';
import { sendError } from '../http/errors.ts';
import { takeImport } from './imports.ts';
import { closePair, openPair, readKillSwitch, showPair, turnKillSwitch } from './pairs.ts';
import { gatewayStatus } from './status.ts';
import { listTasks, sendOutput, showTask, taskQuery } from './tasks.ts';

type Operation = (by: Principal, req: Request, res: Response) => Promise<unknown>;

export function operatorRouter(ctx: GatewayContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  /** Authority first, on every operation; an answer that was not sent is JSON. */
  const run = (operation: Operation) => async (req: Request, res: Response) => {
    try {
      const by = await authenticate(ctx, req);
      ctx.allowances.calls.spend(`${by.tenant}/${by.id}`, 1);
      requireUse(by, ['operator'], 'use the operator API');
      res.setHeader('Cache-Control', 'no-store');
      const answer = await operation(by, req, res);
      if (!res.headersSent) res.json(answer);
    } catch (thrown) {
      // Half an answer must not look whole.
      if (res.headersSent) res.destroy();
      else sendError(ctx, res, thrown);
    }
  };
  const body = (req: Request) => readJsonBody(req, ctx.limits.jsonBytes);

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

function parameter(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === 'string' ? value : '';
}
