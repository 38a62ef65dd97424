/** The calls of an agent's harness (schemas/harness-api.ts). Authority first, on every one. */
import { Router, type Request } from 'express';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { appendReview } from '../../activities/store/harness.ts';
import type { ApprovalVerdict } from '../../schemas/approval.ts';
import { portcullisError } from '../../schemas/errors.ts';
import {
  HARNESS_PATHS,
  isReviewName,
  MAX_REVIEW_BYTES,
  type ReviewAnswer,
  type SubmitAnswer,
} from '../../schemas/harness-api.ts';
import { ticketUpdateId } from '../../schemas/ticket/update-id.ts';
import type { TicketUpdateArguments, TicketUpdateName } from '../../schemas/ticket/workflow.ts';
import type { GatewayContext } from '../context.ts';
import { parsed, readBody, readJsonBody } from '../http/body.ts';
import { answerReview } from './approvals.ts';
import { approvalAskSchema, submitPlanSchema, submitReadySchema, submitSegmentSchema } from './bodies.schema.ts';
import { harnessContext } from './context.ts';
import { agentOf, seatedAgent, type HarnessContextParts, type Seated } from './seat.ts';
import { Submissions } from './submissions.ts';
import { updateTicket } from '../ticket-updates.ts';

const SMALL_BODY_BYTES = 4096;
const REVIEWS = '/v1/harness/reviews/:name';

/** Only for what this workspace was asked: an earlier assignment, or another role's place, is none of its business. */
function asked<T extends { readonly revision: number }>({ assignment }: Seated, request: T): T {
  if (request.revision === assignment.revision) return request;
  throw portcullisError('ticket_stale', {
    event: 'submission',
    revision: request.revision,
    current: assignment.revision,
  });
}

/** `connection` is the gateway's own to the store. */
export function harnessRouter(ctx: GatewayContext, connection: StoreConnection): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const parts: HarnessContextParts = { ctx, connection };
  const submissions = new Submissions(ctx.limits.submissionsPerRevision);
  const body = (req: Request) => readJsonBody(req, SMALL_BODY_BYTES);

  const submit = async <U extends TicketUpdateName>(
    update: U,
    { agent, assignment: { revision } }: Seated,
    request: TicketUpdateArguments[U],
  ): Promise<SubmitAnswer> => {
    const ticket = { tenant: agent.tenant, ticket: agent.pair };
    const submission = { agent, revision, id: ticketUpdateId(update, request) };
    const taken = await submissions.send(submission, () => updateTicket(ctx, ticket, update, request));
    return { schema: 'portcullis/submitted/v1', revision: taken.revision, phase: taken.phase };
  };

  router.get(HARNESS_PATHS.context, async (req, res) => {
    const agent = await agentOf(parts, req, ['forge', 'sentinel', 'lore'], 'ask what to do');
    res.setHeader('Cache-Control', 'no-store');
    res.json(await harnessContext(parts, agent));
  });

  router.post(HARNESS_PATHS.plan, async (req, res) => {
    const seated = await seatedAgent(parts, req, ['forge'], 'submit a plan');
    const request = asked(seated, parsed(submitPlanSchema, await body(req)));
    res.json(await submit('submitPlan', seated, { ...request, by: seated.agent.id }));
  });

  router.post(HARNESS_PATHS.segment, async (req, res) => {
    const seated = await seatedAgent(parts, req, ['forge'], 'submit a segment');
    const request = asked(seated, parsed(submitSegmentSchema, await body(req)));
    res.json(await submit('submitSegment', seated, { ...request, by: seated.agent.id }));
  });

  router.post(HARNESS_PATHS.ready, async (req, res) => {
    const seated = await seatedAgent(parts, req, ['forge', 'lore'], 'submit a change as ready');
    const request = asked(seated, parsed(submitReadySchema, await body(req)));
    res.json(await submit('submitReady', seated, { ...request, by: seated.agent.id }));
  });

  router.put(REVIEWS, async (req, res) => {
    const { agent, assignment } = await seatedAgent(parts, req, ['sentinel'], 'append a review');
    const { name } = req.params;
    if (!isReviewName(name)) throw portcullisError('schema_invalid', { path: 'name', reason: 'is not a review' });
    if (name !== assignment.review) throw portcullisError('not_allowed', { action: `append ${name} to this review` });
    const bytes = await readBody(req, MAX_REVIEW_BYTES);
    if (bytes.length === 0) throw portcullisError('schema_invalid', { path: 'body', reason: 'is empty' });
    const { digest } = await appendReview(connection, agent, name, bytes);
    res.json({
      schema: 'portcullis/review-appended/v1',
      name,
      bytes: bytes.length,
      digest,
    } satisfies ReviewAnswer);
  });

  const answer = (path: string, verdict: ApprovalVerdict) =>
    router.post(path, async (req, res) => {
      const seated = await seatedAgent(parts, req, ['sentinel'], 'answer a review');
      res.json(await answerReview(parts, seated, verdict, parsed(approvalAskSchema, await body(req))));
    });
  answer(HARNESS_PATHS.approve, 'APPROVED');
  answer(HARNESS_PATHS.reject, 'REJECTED');
  return router;
}
