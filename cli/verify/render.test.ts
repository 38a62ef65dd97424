import { describe, expect, test } from 'vitest';
import type { VerifyTask } from '../../client/a2a.ts';
import { VERIFY_STATUSES, type VerifyResult, type VerifyStatus } from '../../schemas/verify/result.ts';
import { resolvedRequest, admissionOf, resultOf } from '../../test/support/task-fixtures.ts';
import { createOutput } from '../output.ts';
import { exitCodeOf, resultObject, resultText } from './render.ts';

const output = createOutput({ json: false, debug: false, color: false });
const { accepted, snapshot } = admissionOf(resolvedRequest(), { now: 1, nextN: 1, nextSequence: 1 });

function ended(status: VerifyStatus, change: Partial<VerifyResult> = {}): VerifyTask {
  const result = resultOf(accepted, status, change);
  const { taskId: id, contextId, pair, requestDigest } = snapshot;
  const ending = { seq: 1, phase: 'ended', detail: '', outcome: status, satisfied: null } as const;
  return { id, contextId, state: 'failed', detail: '', metadata: { ...ending, requestDigest, pair }, result };
}

function refused(refusal: string): VerifyTask {
  return {
    ...ended('rejected'),
    state: 'rejected',
    result: null,
    metadata: { ...ended('rejected').metadata, refusal },
  };
}

const first = (task: VerifyTask) => resultText(task, output).split('\n')[0];
const line = (task: VerifyTask, name: string) =>
  resultText(task, output)
    .split('\n')
    .find((text) => text.startsWith(name));

describe('exit codes', () => {
  test.each(VERIFY_STATUSES.map((status) => [status] as const))('%s', (status) => {
    const says = status === 'completed' || status === 'timed_out' ? 3 : 5;
    expect(exitCodeOf(ended(status, { satisfied: false }))).toBe(says);
  });

  test.each(['policy_mismatch', 'signature_invalid', 'not_allowed'])(
    'refused by executor or control (%s): unknown, not the work’s failure',
    (code) => {
      const task = ended('rejected', { reasons: ['not_completed', code] });
      expect(exitCodeOf(task)).toBe(5);
      expect(first(task)).toMatch(/^unknown {2}nothing ran: /);
    },
  );

  test.each([
    ['template_mismatch', 3],
    ['kill_switch', 5],
    ['something_new', 3],
  ])('refused at admission (%s) exits %i', (code, exit) => expect(exitCodeOf(refused(code))).toBe(exit));
});

describe('in words', () => {
  test('nobody there', () => {
    const task = ended('executor_unavailable', { reasons: ['not_completed', 'absent'] });
    expect(first(task)).toBe('unknown  nothing ran: no executor took the command; it is not at the door');
    expect(line(task, 'sandbox')).toMatch(/nothing ran$/);
  });

  test('lost says unknown, also of the sandbox', () => {
    const task = ended('executor_lost', { reasons: ['not_completed', 'heartbeat_lost'], tests: 'unknown' });
    expect(first(task)).toMatch(/^unknown {2}the executor was lost while the command ran/);
    expect(line(task, 'sandbox')).toMatch(/ unknown$/);
  });

  test('another policy: what to do is said', () => {
    expect(first(ended('rejected', { reasons: ['not_completed', 'policy_mismatch'] }))).toMatch(/portcullis down/);
  });

  test('timed out and cancelled say so first, without what follows from it', () => {
    const reasons = ['not_completed', 'exit_code', 'not_tested', 'output_lost'];
    const late = ended('timed_out', { reasons });
    expect(first(late)).toBe('timed out  not satisfied  the command was ended at its time limit; output_lost');
    expect(resultObject(late)['reasons']).toEqual(reasons);
    expect(first(ended('cancelled', { reasons: reasons.slice(0, 3) }))).toBe(
      'cancelled  unknown  the run was ended on request',
    );
  });

  test('cancelled in line nothing ran; cancelled without a report it is unknown', () => {
    const waiting = ended('cancelled');
    expect(line(waiting, 'sandbox')).toMatch(/nothing ran$/);
    const { subject } = resultOf(accepted, 'cancelled');
    const silent = ended('cancelled', { subject: { ...subject, tree_before: 'a'.repeat(40) } });
    expect(line(silent, 'sandbox')).toMatch(/ unknown$/);
  });

  test('a run to its end lists its reasons as before', () => {
    expect(first(ended('completed', { satisfied: false, reasons: ['exit_code', 'tests_failed'] }))).toBe(
      'not satisfied  exit_code, tests_failed',
    );
    expect(first(ended('completed'))).toBe('satisfied');
  });
});
