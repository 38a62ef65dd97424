/** Verification and the gate, each a workflow of its own: the one records evidence, the other decides on it. */
import { ChildWorkflowCancellationType, executeChild, ParentClosePolicy, proxyActivities } from '@temporalio/workflow';
import { subjectParameters } from '../../policies/tickets/subject.ts';
import { eventOfReview, eventOfTest } from '../../policies/tickets/verification.ts';
import { WAIT_BOUND_SECONDS } from '../../policies/tickets/bounds.ts';
import { openFindings } from '../../policies/gates/open-findings.ts';
import { parseDigest, type Digest } from '../../schemas/digest.ts';
import type { DecisionReason } from '../../schemas/gate/decision.ts';
import { GATE_WORKFLOWS, type GateInput, type GateOutcome } from '../../schemas/gate/workflow.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import {
  VERIFICATION_WORKFLOW,
  type SubjectActivities,
  type VerificationInput,
  type VerificationOutcome,
} from '../../schemas/verification/workflow.ts';
import { gateWorkflowId, verificationWorkflowId } from '../../schemas/workflow-ids.ts';
import { codeOf } from './failure.ts';
import { ASKING } from './options.ts';
import { commit, now, type Session } from './session.ts';

const { recordSubject } = proxyActivities<SubjectActivities>(ASKING);

/** It gives up by itself before the ticket gives up on it. */
const MARGIN_SECONDS = 300;

/** A short-lived child: this workflow never continues as new while one runs. */
const CHILD = {
  parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
  cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
  workflowIdReusePolicy: 'REJECT_DUPLICATE',
} as const;

export async function review(session: Session, gate: TicketGate): Promise<void> {
  const { revision, review: evaluation } = session.state;
  if (evaluation === null) return;
  const { n } = evaluation;
  const verified = await verify(session, gate, n, 'review');
  if (verified === null) return;
  const { subjectDigest, outcome } = verified;
  await commit(session, eventOfReview({ revision, at: Date.now(), n, subjectDigest }, outcome));
}

/** The checks of the merge candidate alone. */
export async function testCandidate(session: Session): Promise<void> {
  const { revision, candidate, attempts } = session.state;
  if (candidate === null) return;
  const n = attempts.evaluations;
  const verified = await verify(session, 'merge', n, 'checks');
  if (verified === null) return;
  const { subjectDigest, outcome } = verified;
  await commit(session, eventOfTest({ revision, at: Date.now(), n, subjectDigest }, candidate.commit, outcome));
}

interface Verified {
  readonly subjectDigest: Digest<'subject'>;
  readonly outcome: VerificationOutcome;
}

async function verify(
  session: Session,
  gate: TicketGate,
  n: number,
  scope: VerificationInput['scope'],
): Promise<Verified | null> {
  const { state, input } = session;
  const parameters = subjectParameters(state, input.definition, gate);
  if (parameters === null) {
    await commit(session, {
      type: 'artifactMissing',
      revision: state.revision,
      path: `what the ${gate} gate judges`,
      ...now('ticket'),
    });
    return null;
  }
  const { subjectDigest } = await recordSubject(parameters);
  return { subjectDigest, outcome: await outcomeOf(session, { parameters, subjectDigest, n, scope }) };
}

/** A verification that fails or is cancelled from outside has no answer; it says nothing about the work (invariant 7). */
async function outcomeOf(
  session: Session,
  what: Pick<VerificationInput, 'parameters' | 'subjectDigest' | 'n' | 'scope'>,
): Promise<VerificationOutcome> {
  const { parameters, subjectDigest, n, scope } = what;
  const { tenant, ticket, gate } = parameters;
  const workflowId = verificationWorkflowId({ tenant, subjectDigest, n });
  const asked: VerificationInput = {
    ...what,
    owner: session.workflowId,
    timeoutSeconds: WAIT_BOUND_SECONDS.verification - MARGIN_SECONDS,
  };
  session.verification = workflowId;
  try {
    return await executeChild<(asked: VerificationInput) => Promise<VerificationOutcome>>(VERIFICATION_WORKFLOW, {
      ...CHILD,
      workflowId,
      args: [asked],
      staticSummary: `${ticket} ${gate} ${scope}, evaluation ${n}`,
    });
  } catch (thrown) {
    const reason = codeOf(thrown) === 'cancelled' ? 'cancelled' : 'provider_error';
    return { outcome: 'unavailable', reason, refs: [], checks: [], runs: [] };
  } finally {
    session.verification = null;
  }
}

export async function decide(session: Session, gate: TicketGate): Promise<void> {
  const { revision, review: evaluation } = session.state;
  if (evaluation?.subjectDigest == null) return;
  const { n } = evaluation;
  const subjectDigest = parseDigest('subject', evaluation.subjectDigest);
  const outcome = await evaluate(session, gate, subjectDigest, n);
  const { evaluationKey, decision, reasons } = outcome;
  await commit(session, {
    type: 'gateDecided',
    revision,
    n,
    gate,
    decision,
    evaluationKey,
    subjectDigest,
    reasons: reasons
      .filter(({ overridden }) => !overridden)
      .map(reasonText)
      .slice(0, 16),
    blockers: outcome.openFindings ?? openFindings(reasons),
    overruled: reasons.some(({ overridden }) => overridden),
    ...now('gate'),
  });
}

/** One evaluation; what counts is the record it wrote. */
export async function evaluate(
  session: Session,
  kind: GateKind,
  subjectDigest: Digest<'subject'>,
  n: number,
): Promise<GateOutcome> {
  const { tenant, ticketId } = session.state;
  const input: GateInput = { tenant, kind, subjectDigest, n };
  return await executeChild<(input: GateInput) => Promise<GateOutcome>>(GATE_WORKFLOWS.gate, {
    ...CHILD,
    workflowId: gateWorkflowId(input),
    args: [input],
    staticSummary: `${ticketId} ${kind} gate, evaluation ${n}`,
  });
}

export function reasonText(reason: DecisionReason): string {
  return `${reason.case}:${reason.code}:${reason.ref}`;
}
