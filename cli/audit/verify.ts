/**
 * `audit verify`: walks the whole chain with the keys of the operator's own machine. Neither the store nor the gateway is believed:
 * both could be in somebody's hands. Only whether a decision's evidence is still what it was is the gateway's word.
 */
import { join } from 'node:path';
import { isGenuine } from '../../activities/gate/signed-decision.ts';
import { verifyText, type VerifyingKey } from '../../activities/signing/keys.ts';
import { publicKeys } from '../../activities/signing/public-keys.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { KEY_FILES } from '../../local/keys.ts';
import { readState } from '../../local/state.ts';
import { walkAuditChain, type AuditFault, type CheckSignature } from '../../policies/audit/walk.ts';
import type { AuditHead } from '../../schemas/audit.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { RECORDS_PAGE } from '../../schemas/records-api.ts';
import { operatorClient } from '../commands/verify.ts';
import { neededSetting, type CliContext } from '../context.ts';
import { readAnchors } from './anchors.ts';

export interface VerifyAuditOptions {
  /** Workflows whose anchors are read, newest first; 0: none, and a chain that was cut off at its end is not noticed. */
  readonly anchors: number;
}

/** A decision that the chain names and that is not what was written then. */
export interface DecisionFault {
  readonly evaluationKey: string;
  readonly fault: 'missing' | 'altered' | 'evidence_tampered';
}

const NOT_WHOLE_EXIT = 3;

/** @returns 0 when all holds, 3 when something does not. @throws `setting_invalid` without the writers' public keys */
export async function verifyAudit(context: CliContext, options: VerifyAuditOptions): Promise<number> {
  const { output } = context;
  const operator = operatorClient(context);
  const keys = await writersKeys(context);
  const tenant = context.settings.text('tenant');
  const place = temporalPlace(context);
  const anchors =
    options.anchors === 0
      ? []
      : await readAnchors(place, tenant, options.anchors, (n) => output.progress(`${n} workflows read for anchors`));
  const walked = await walk(context, operator, walkAuditChain(tenant, checkWith(keys), anchors));
  if (anchors.length === 0 && walked.head.n > 0)
    output.progress('No anchor: an end that was cut off cannot be noticed.');
  const decisions: DecisionFault[] = [];
  for (const [index, [key, digest]] of [...walked.decided].entries()) {
    if (context.signal.aborted) throw portcullisError('interrupted');
    if (index > 0 && index % 100 === 0) output.progress(`${index} of ${walked.decided.size} decisions verified`);
    const fault = await decisionFault(operator, keys.gate, key, digest);
    if (fault !== null) decisions.push({ evaluationKey: key, fault });
  }
  const whole = walked.faults.length === 0 && decisions.length === 0;
  const counts = { entries: walked.head.n, anchors: anchors.length, decisions: walked.decided.size };
  const value = { whole, ...counts, head: walked.head.digest, faults: walked.faults, decisionFaults: decisions };
  const text = [
    ...walked.faults.map(({ code, n }) => `${output.style('bad', code)} at entry ${n}`),
    ...decisions.map(({ evaluationKey, fault }) => `${output.style('bad', fault)}: decision ${evaluationKey}`),
    `${counts.entries} entries, ${counts.anchors} anchors, ${counts.decisions} decisions: ${whole ? output.style('good', 'whole') : output.style('bad', 'not whole')}`,
  ];
  output.result('AuditVerification', value, text.join('\n'));
  return whole ? 0 : NOT_WHOLE_EXIT;
}

interface Walked {
  readonly head: AuditHead;
  readonly faults: readonly AuditFault[];
  /** Digests of the decisions that the chain names, by evaluation key. */
  readonly decided: ReadonlyMap<string, string>;
}

/** The chain grows meanwhile: it is walked up to where it stood at the last page. */
async function walk(
  { output, signal }: CliContext,
  operator: GatewayClient,
  chain: ReturnType<typeof walkAuditChain>,
): Promise<Walked> {
  const decided = new Map<string, string>();
  for (let after = 0; ; after += RECORDS_PAGE) {
    if (signal.aborted) throw portcullisError('interrupted');
    const { items, head } = await operator.auditPage({ after, limit: RECORDS_PAGE });
    chain.take(items);
    for (const { entry } of items) {
      if (entry.event === 'decided') decided.set(entry.refs['evaluation'] ?? '', entry.refs['decision'] ?? '');
    }
    if (after + RECORDS_PAGE >= head.n) return { head, faults: chain.end(head), decided };
    output.progress(`${after + RECORDS_PAGE} of ${head.n} entries walked`);
  }
}

async function decisionFault(
  operator: GatewayClient,
  keys: readonly VerifyingKey[],
  evaluationKey: string,
  digest: string,
): Promise<DecisionFault['fault'] | null> {
  try {
    const { decision, standing } = await operator.showGate(evaluationKey);
    if (decision.decision.evaluationKey !== evaluationKey || decision.digest !== digest) return 'altered';
    if (!isGenuine(decision, keys)) return 'altered';
    return standing.applicability === 'evidence_tampered' ? 'evidence_tampered' : null;
  } catch (thrown) {
    const code = thrown instanceof PortcullisError ? thrown.code : null;
    if (code === 'not_found') return 'missing';
    if (code === 'record_unreadable' || code === 'schema_invalid') return 'altered';
    throw thrown;
  }
}

interface WritersKeys {
  readonly control: readonly VerifyingKey[];
  readonly gate: readonly VerifyingKey[];
}

async function writersKeys(context: CliContext): Promise<WritersKeys> {
  const directory = neededSetting(context, 'keys.dir');
  const [control, gate] = await Promise.all(
    [KEY_FILES.controlPublic, KEY_FILES.gatePublic].map((name) => publicKeys(join(directory, name))()),
  );
  return { control: control ?? [], gate: gate ?? [] };
}

/** An entry counts only with the key of the writer that it names. */
function checkWith(keys: WritersKeys): CheckSignature {
  return (writer, keyId, text, signature) => {
    const key = keys[writer].find((known) => known.keyId === keyId);
    return key !== undefined && verifyText(key, text, signature);
  };
}

function temporalPlace({ settings, paths }: CliContext) {
  const state = readState(paths);
  const address = settings.get('temporal.address') ?? (state === null ? null : `127.0.0.1:${state.ports.temporal}`);
  if (address === null) throw portcullisError('stack_not_running');
  return { address, namespace: settings.text('temporal.namespace') };
}
