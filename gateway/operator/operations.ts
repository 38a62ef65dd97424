/** What every operation of the operator API goes through: authority, allowance, JSON both ways. */
import type { Request, Response } from 'express';
import { authenticate, requireUse, type Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { readJsonBody } from '../http/body.ts';
import { sendError } from '../http/errors.ts';

export type Operation = (by: Principal, req: Request, res: Response) => Promise<unknown>;

export function operations(ctx: GatewayContext) {
  return {
    /** Authority first, on every operation; an answer that was not sent is JSON. */
    run: (operation: Operation) => async (req: Request, res: Response) => {
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
    },
    body: (req: Request) => readJsonBody(req, ctx.limits.jsonBytes),
    parameter: (req: Request, name: string): string => {
      const value = req.params[name];
      return typeof value === 'string' ? value : '';
    },
  };
}
