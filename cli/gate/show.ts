/** `gate show` and `gate why`: one decision, with whether it counts now. */
import { isReasonCode, REASONS, sentenceOf } from '../../policies/gates/reasons.ts';
import { MOVED } from '../../policies/gates/moved.ts';
import type { DecisionStanding } from '../../schemas/gate/activities.ts';
import type { DecisionReason } from '../../schemas/gate/decision.ts';
import type { EvidenceLine, GateAnswer } from '../../schemas/gate/operator-api.ts';
import { DECISION_EXIT, decisionObject, decisionText } from '../commands/gate-eval.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { table, type Output } from '../output.ts';

/** Exit code of a decision that does not apply, whatever it says (spec/cli.md). */
const STALE_EXIT = 8;

/** @returns 0 pass, 3 rework, 4 human required, 5 blocked, 8 when it does not apply. @throws `not_found` */
export async function showGate(context: CliContext, id: string): Promise<number> {
  const answer = await operatorClient(context).showGate(id);
  const { decision, digest } = answer.decision;
  const { output } = context;
  output.result(
    'GateDecision',
    gateObject(answer),
    `${decisionText(decision, digest, output)}\n\n${standingText(answer, output)}\n\n${evidenceText(answer.evidence, output)}`,
  );
  return exitCodeOf(answer.standing);
}

/** The same in sentences. @throws `not_found` */
export async function explainGate(context: CliContext, id: string): Promise<number> {
  const answer = await operatorClient(context).showGate(id);
  context.output.result('GateExplanation', gateObject(answer), whyText(answer, context.output));
  return exitCodeOf(answer.standing);
}

export function exitCodeOf({ applicability, decision }: DecisionStanding): number {
  return applicability === 'applicable' ? DECISION_EXIT[decision] : STALE_EXIT;
}

/** The stable object: the fields of `gate eval`, then where it stands. */
export function gateObject({ ticket, decision: { decision, digest, keyId }, standing, evidence }: GateAnswer) {
  return {
    ...decisionObject(decision, digest),
    reasons: decision.reasons.map((reason) => ({ ...reason, sentence: sentence(reason) })),
    ticket,
    execution: { id: decision.executionId, generation: decision.executionGeneration },
    keyId,
    applicability: standing.applicability,
    moved: standing.moved.map((name) => ({ name, ...MOVED[name] })),
    authorises: standing.authorises,
    lookedAt: new Date(standing.at).toISOString(),
    evidence,
  };
}

function standingText({ ticket, decision: { decision }, standing }: GateAnswer, output: Output): string {
  const { applicability, moved } = standing;
  const applies =
    applicability === 'applicable'
      ? output.style('good', 'applies now')
      : output.style('bad', `does not apply now (${applicability})`);
  return [
    `standing  ${applies}`,
    `ticket    ${ticket ?? 'unknown'}, execution ${decision.executionId} generation ${decision.executionGeneration}`,
    ...moved.map((name) => `moved     ${MOVED[name].component}: ${MOVED[name].sentence}`),
  ].join('\n');
}

/** What a person asks first: what it says and why, whether that still counts, and what would change it. */
export function whyText(answer: GateAnswer, output: Output): string {
  const {
    decision: { decision },
    standing,
  } = answer;
  const live = decision.reasons.filter((reason) => !reason.overridden);
  const said =
    live.length === 0
      ? ['Everything that the policy asks for is there and nothing speaks against it.']
      : live.map(sentence);
  const mends = new Set(live.flatMap(({ code }) => (isReasonCode(code) ? [REASONS[code].mend] : [])));
  return [
    `The ${decision.gate} gate says ${output.style('strong', decision.decision)}.`,
    ...said,
    ...(decision.reasonsOmitted > 0 ? [`And ${decision.reasonsOmitted} more reasons.`] : []),
    ...standingSentences(standing),
    ...[...mends].map((mend) => output.style('dim', `To do: ${mend}`)),
    ...standing.moved.map((name) => output.style('dim', `To do: ${MOVED[name].mend}`)),
    ...personsCommands(answer).map((command) => output.style('dim', `To do: ${command}`)),
  ].join('\n');
}

/** What exactly a person can say that would change it; empty when nothing can, or when it does not count anyway. */
export function personsCommands({
  ticket,
  decision: { decision },
  standing,
  overrides,
}: GateAnswer): readonly string[] {
  const open = decision.decision === 'human_required' || decision.decision === 'blocked';
  if (ticket === null || !open || standing.applicability !== 'applicable') return [];
  const live = decision.reasons.filter((reason) => !reason.overridden);
  // Case 9 is the last: while another decides, an approval changes nothing yet.
  const [deciding] = live;
  if (deciding === undefined) return [];
  const command = `portcullis gate decide ${ticket} --decision`;
  const rule = overrides.find((listed) => listed.case === deciding.case);
  const said =
    deciding.case === 'human_absent'
      ? [`${command} approve --reason …`]
      : rule === undefined
        ? []
        : [`${command} override --case ${rule.case} --reason … (${rule.min} of the role ${rule.role})`];
  return said.length === 0 ? [] : [...said, `portcullis ticket decide ${ticket} --decision retry --reason …`];
}

function standingSentences({ applicability, moved, validUntil }: DecisionStanding): readonly string[] {
  if (applicability !== 'applicable') {
    return ['It does not count now.', ...moved.map((name) => MOVED[name].sentence)];
  }
  return [validUntil === null ? 'It counts now.' : `It counts now, until ${new Date(validUntil).toISOString()}.`];
}

function sentence({ code, ref }: DecisionReason): string {
  return isReasonCode(code) ? sentenceOf(code, ref) : `${code} ${ref}`;
}

/** What a decision rests on, as a table. */
export function evidenceText(evidence: readonly EvidenceLine[], output: Output): string {
  const shown = evidence.filter(({ kind }) => kind !== 'attempt');
  if (shown.length === 0) return 'No evidence is listed.';
  const head = ['evidence', 'about', 'status', 'detail'].map((name) => output.style('dim', name));
  return table([head, ...shown.map(({ kind, about, status, detail }) => [kind, about, status, detail])]);
}
