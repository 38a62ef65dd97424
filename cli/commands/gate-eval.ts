/** `portcullis gate eval FILE`: what the gate says of a request file, offline, with every digest made anew. */
import { Command } from 'commander';
import { decideGate } from '../../policies/gates/decide.ts';
import { PRECEDENCE } from '../../policies/gates/precedence.ts';
import { readGateRequest } from '../../policies/gates/read-request.ts';
import { isReasonCode, REASONS, sentenceOf } from '../../policies/gates/reasons.ts';
import type { Digest } from '../../schemas/digest.ts';
import type { DecisionReason, GateDecision } from '../../schemas/gate/decision.ts';
import type { GateDecisionWord } from '../../schemas/gate/vocabulary.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { Output, Style } from '../output.ts';
import { action, exampleHelp } from '../program.ts';
import { readBoundedFile } from '../read-file.ts';

/** Exit code of each decision (spec/cli.md). */
export const DECISION_EXIT = {
  pass: 0,
  rework: 3,
  human_required: 4,
  blocked: 5,
} as const satisfies Record<GateDecisionWord, number>;

/** A request with thousands of records still fits; what is larger is no example. */
const REQUEST_LIMITS = { maxBytes: 32 * 1024 * 1024, maxDepth: 64 };

export interface GateEvalOptions {
  /** `-` reads stdin. */
  readonly file: string;
  readonly stdin?: AsyncIterable<unknown>;
}

/** The verb; whoever builds the noun `gate` adds it. */
export function gateEvalCommand(): Command {
  const command = new Command('eval')
    .description('evaluate a request file offline: the decision and every reason')
    .argument('<file>', 'subject, evidence, policy, definition and asOf; - reads it from stdin');
  exampleHelp(
    command,
    'portcullis gate eval examples/gate/pass-repository-change.json',
    'portcullis gate eval - --json < request.json',
  );
  return action(command, ({ output }, called) => gateEval({ file: called.args[0] ?? '-' }, output));
}

/**
 * @returns 0 pass, 3 rework, 4 human required, 5 blocked
 * @throws `not_found` without such a file, `schema_invalid` and the `json_…` codes for one that is no request,
 * `gate_policy_refused` for a policy that registration refuses
 */
export async function gateEval({ file, stdin }: GateEvalOptions, output: Output): Promise<number> {
  const bytes = await readBoundedFile(file, REQUEST_LIMITS.maxBytes, stdin);
  const input = readGateRequest(readStrictJson(bytes, REQUEST_LIMITS));
  const { decision, digest } = decideGate(input, []);
  output.result('GateDecision', decisionObject(decision, digest), decisionText(decision, digest, output));
  return DECISION_EXIT[decision.decision];
}

/** The stable object: fields of spec/cli.md first. */
export function decisionObject(decision: GateDecision, digest: Digest<'decision'>) {
  const { reasons, validUntil } = decision;
  return {
    decision: decision.decision,
    reasons: reasons.map(({ code, ref, case: name, overridden }) => ({ code, ref, case: name, overridden })),
    subjectDigest: decision.subjectDigest,
    evidenceSetDigest: decision.evidenceSetDigest,
    evaluationKey: decision.evaluationKey,
    decisionDigest: digest,
    validUntil: validUntil === null ? null : new Date(validUntil).toISOString(),
    reasonsOmitted: decision.reasonsOmitted,
    gate: decision.gate,
    policy: decision.policy,
    definition: decision.definition,
    evaluatorVersion: decision.evaluatorVersion,
    asOf: new Date(decision.asOf).toISOString(),
  };
}

const STYLES = { pass: 'good', rework: 'bad', human_required: 'warn', blocked: 'bad' } as const satisfies Record<
  GateDecisionWord,
  Style
>;

/** The decision for people: each reason as a sentence, with what to do. */
export function decisionText(decision: GateDecision, digest: Digest<'decision'>, output: Output): string {
  const { policy, validUntil } = decision;
  const until = validUntil === null ? 'nothing it rests on ends' : new Date(validUntil).toISOString();
  return [
    `decision  ${output.style(STYLES[decision.decision], decision.decision)} (${digest})`,
    `gate      ${decision.gate}, policy ${policy.id} revision ${policy.revision}`,
    `subject   ${decision.subjectDigest}`,
    `valid     until ${until}`,
    ...decision.reasons.flatMap((reason) => reasonLines(reason, output)),
    ...(decision.reasonsOmitted > 0 ? [`and ${decision.reasonsOmitted} more reasons`] : []),
  ].join('\n');
}

function reasonLines(reason: DecisionReason, output: Output): readonly string[] {
  const { number, title } = PRECEDENCE[reason.case];
  const known = isReasonCode(reason.code) ? reason.code : null;
  const sentence = known === null ? reason.ref : sentenceOf(known, reason.ref);
  const overridden = reason.overridden ? ' Overridden; it stays on record.' : '';
  const mend = known === null || reason.overridden ? [] : [output.style('dim', `    ${REASONS[known].mend}`)];
  return ['', `${number}. ${title} [${reason.code}]`, `    ${sentence}${overridden}`, ...mend];
}
