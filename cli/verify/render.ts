/** How a verification is shown: the object of `--json`, the text for people, and the exit code of spec/cli.md. */
import type { VerifyTask } from '../../client/a2a.ts';
import { ERROR_CATALOGUE, isErrorCode } from '../../schemas/errors.ts';
import type { GateGradeReason, VerifyResult } from '../../schemas/verify/result.ts';
import { table, type Output, type Style } from '../output.ts';
import { hasRun, knowledgeOf, whyNot, type Knowledge } from './words.ts';

const EXITS = { satisfied: 0, 'not satisfied': 3, unknown: 5 } as const satisfies Record<Knowledge, number>;
const STYLES = { satisfied: 'good', 'not satisfied': 'bad', unknown: 'warn' } as const satisfies Record<
  Knowledge,
  Style
>;

/** Exit code of a task that ended: 0 satisfied, 3 not satisfied or refused, 5 nothing is known. */
export function exitCodeOf({ state, metadata, result }: VerifyTask): number {
  if (state === 'rejected') return refusalExit(metadata.refusal);
  if (result === null) return ERROR_CATALOGUE.completed_unpersisted.exit;
  return EXITS[knowledgeOf(result)];
}

function refusalExit(refusal: string | undefined): number {
  return refusal !== undefined && isErrorCode(refusal) ? ERROR_CATALOGUE[refusal].exit : 3;
}

/** The members of `VerifyResult` on stdout. */
export function resultObject(task: VerifyTask): Readonly<Record<string, unknown>> {
  const { result } = task;
  if (result === null) {
    const status = task.state === 'rejected' ? 'rejected' : (task.metadata.outcome ?? task.metadata.phase);
    const reasons = [task.metadata.refusal ?? task.detail];
    return { task_id: task.id, status, satisfied: false, persisted: false, exit_code: null, timed_out: false, reasons };
  }
  const { schema, ...members } = result;
  return { ...members, persisted: true };
}

export function resultText(task: VerifyTask, output: Output): string {
  const { result } = task;
  if (task.state === 'rejected') {
    return `${output.style('bad', 'refused')}  ${task.metadata.refusal ?? ''}: ${task.detail}`;
  }
  if (result === null) return `${output.style('warn', 'unpersisted')}  ${task.detail}`;
  const rows = [
    ['command', result.argv_requested.join(' ')],
    ['commit', result.subject.head_sha],
    ['status', statusLine(result)],
    ['prepared', prepareLine(result)],
    ['tests', testsLine(result)],
    ['attested by', `${result.attestation} (${result.executor.workspace})`],
    ['gate', gateLine(result)],
    ['sandbox', sandboxLine(result)],
    ['policy', `${result.policy.id} revision ${result.policy.revision}, template ${result.policy.template}`],
    ['task', result.task_id],
  ];
  return `${verdictLine(result, output)}\n${table(rows)}`;
}

/** How it ended comes first where that is what a reader has to know first. */
export function verdictLine(result: VerifyResult, output: Output): string {
  const known = knowledgeOf(result);
  const { status } = result;
  const first = status === 'timed_out' ? 'timed out  ' : status === 'cancelled' ? 'cancelled  ' : '';
  const why = whyNot(result);
  return `${first}${output.style(STYLES[known], known)}${why === '' ? '' : `  ${why}`}`;
}

function statusLine({ status, exit_code: code, signal, duration_ms: ms }: VerifyResult): string {
  const end = code === null ? (signal === null ? '' : `, ${signal}`) : `, exit code ${code}`;
  return `${status}${end}, ${(ms / 1000).toFixed(1)} s`;
}

function prepareLine({ prepare }: VerifyResult): string {
  if (prepare === null) return 'nothing: no preparation for this command';
  const { commands, cache, outcome, reason, requests, refused, bytes, duration_ms: ms } = prepare;
  if (outcome === 'not_needed') return `nothing: ${reason}`;
  const what = `${(commands.at(-1) ?? []).slice(0, 2).join(' ')}, ${(ms / 1000).toFixed(1)} s`;
  if (cache === 'hit') return `${what}, from what was prepared before`;
  const traffic = `${requests} requests, ${refused} refused, ${bytes} bytes`;
  return outcome === 'prepared' ? `${what}, ${traffic}` : `${outcome}, ${what}, ${traffic}`;
}

function testsLine({ tests }: VerifyResult): string {
  if (tests === null) return 'none: this command runs no tests';
  if (tests === 'unknown') return 'unknown: no count can be trusted';
  const { executed, passed, failed, skipped, provenance } = tests;
  return `${executed} executed, ${passed} passed, ${failed} failed, ${skipped} skipped (from ${provenance.replace('_', ' ')})`;
}

const NOT_FOR_A_GATE = {
  producer_attestation: 'a producer attests to it',
  worktree: 'it is about uncommitted work',
  no_answer: 'nothing is known of the work',
  containment: 'its sandbox was too weak',
} as const satisfies Record<GateGradeReason, string>;

function gateLine({ gate_grade: { eligible, reasons } }: VerifyResult): string {
  if (eligible) return 'may serve a gate';
  return `never serves a gate: ${reasons.map((reason) => NOT_FOR_A_GATE[reason]).join('; ')}`;
}

function sandboxLine(result: VerifyResult): string {
  const ran = hasRun(result);
  if (ran === false) return 'nothing ran';
  const { sandbox } = result;
  if (ran === null || sandbox === null) return 'unknown';
  const memory =
    sandbox.limits['memoryBytes'] === undefined ? 'memory limited for each process only' : 'memory limited as a whole';
  return `${sandbox.containment}, network ${sandbox.network}, ${memory}`;
}
