/**
 * `gate`: one evaluation of one subject. Short and owns nothing: the gate worker's activity reads, evaluates, signs and writes
 * once; what counts is that record (spec/gate.md section 5).
 */
import { proxyActivities, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { gateQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { GateActivities } from '../../schemas/gate/activities.ts';
import type { GateInput, GateOutcome } from '../../schemas/gate/workflow.ts';
import { evaluationOptions } from './options.ts';

export async function gate({ tenant, kind, subjectDigest, n }: GateInput): Promise<GateOutcome> {
  const heading = `${kind} gate, evaluation ${n} of ${subjectDigest.slice(0, 19)}…`;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
    { key: SEARCH_ATTRIBUTES.subjectDigest, value: subjectDigest },
    { key: SEARCH_ATTRIBUTES.phase, value: 'evaluating' },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: 'gate' },
    { key: SEARCH_ATTRIBUTES.state, value: 'open' },
  ]);
  setCurrentDetails(`**${heading}**\n\nWaiting on: gate (it reads the evidence, evaluates, signs and writes once)`);
  const evaluation = proxyActivities<GateActivities>(evaluationOptions(gateQueue(tenant), heading));
  try {
    // The anchor stays in the history of the activity: nothing here reads it.
    const { anchor: _anchor, ...outcome } = await evaluation.evaluateSubject({ tenant, kind, subjectDigest, n });
    showEnd(outcome.decision);
    setCurrentDetails(`**${heading}**\n\n${outcome.decision}\n\n${reasonLines(outcome)}`);
    return outcome;
  } catch (thrown) {
    // Nothing was decided, which is never a pass; the failure's type says why.
    showEnd('undecided');
    throw thrown;
  }
}

function showEnd(phase: string): void {
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.phase, value: phase },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: 'nothing' },
    { key: SEARCH_ATTRIBUTES.state, value: 'closed' },
  ]);
}

function reasonLines({ reasons, reasonsOmitted }: GateOutcome): string {
  const lines = reasons.map(({ code, ref, overridden }) => `- \`${code}\` ${ref}${overridden ? ' (overridden)' : ''}`);
  return [...lines, ...(reasonsOmitted > 0 ? [`- and ${reasonsOmitted} more`] : [])].join('\n');
}
