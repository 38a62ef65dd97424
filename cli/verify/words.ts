/** What a verification came to, in words for somebody who does not know the codes. */
import { UNSATISFIED_REASONS } from '../../policies/verify/satisfies.ts';
import { ERROR_CATALOGUE, isErrorCode } from '../../schemas/errors.ts';
import type { VerifyResult, VerifyStatus } from '../../schemas/verify/result.ts';

/** What is known about the work. Closed: a new status breaks the build here. */
export type Knowledge = 'satisfied' | 'not satisfied' | 'unknown';

export function knowledgeOf({ satisfied, status }: Pick<VerifyResult, 'satisfied' | 'status'>): Knowledge {
  if (satisfied) return 'satisfied';
  return answers(status) ? 'not satisfied' : 'unknown';
}

/** Statuses that say something about the work; all others say that nothing is known. */
function answers(status: VerifyStatus): boolean {
  switch (status) {
    case 'completed':
    case 'timed_out':
      return true;
    case 'rejected':
    case 'cancelled':
    case 'executor_unavailable':
    case 'executor_lost':
    case 'prepare_failed':
    case 'failed_to_start':
      return false;
  }
}

/** What happened, for every status but an ordinary end. */
const HAPPENED = {
  timed_out: 'the command was ended at its time limit',
  cancelled: 'the run was ended on request',
  rejected: 'nothing ran: the executor or the control plane refused the action',
  executor_unavailable: 'nothing ran: no executor took the command',
  executor_lost: 'the executor was lost while the command ran, so what happened is unknown',
  prepare_failed: 'nothing ran: the preparation failed',
  failed_to_start: 'nothing ran: the command could not be started',
} as const satisfies Record<Exclude<VerifyStatus, 'completed'>, string>;

/** Follow from the time limit, and would read as if they were findings. */
const FROM_LIMIT: readonly string[] = ['not_completed', 'exit_code', 'not_tested', 'too_few_tests', 'tree_unknown'];
/** Of a run of which nothing is known, no finding says anything but this one. */
const OF_UNKNOWN: readonly string[] = ['superseded'];

/** Reasons that are no error of the catalogue. */
const WORDS: Readonly<Record<string, string>> = {
  absent: 'it is not at the door',
  busy: 'it was busy for too long',
  did_not_start: 'it did not take the command in time',
  executor_restarted: 'it was started again meanwhile',
  presence_unknown: 'whether it is at the door could not be told',
  heartbeat_lost: 'it sent no sign of life any more',
};

/** The sentence behind the verdict; empty when it satisfies. */
export function whyNot({ satisfied, status, reasons }: Pick<VerifyResult, 'satisfied' | 'status' | 'reasons'>): string {
  if (satisfied) return '';
  if (status === 'completed') return reasons.join(', ');
  const more = reasons.filter((reason) => reason !== status && says(status, reason)).map(inWords);
  return [HAPPENED[status], ...more].join('; ');
}

function says(status: VerifyStatus, reason: string): boolean {
  if (status === 'timed_out') return !FROM_LIMIT.includes(reason);
  return OF_UNKNOWN.includes(reason) || !UNSATISFIED_REASONS.some((known) => known === reason);
}

function inWords(reason: string): string {
  const words = WORDS[reason];
  if (words !== undefined) return words;
  if (!isErrorCode(reason)) return reason;
  const { message, mend } = ERROR_CATALOGUE[reason];
  // A sentence with a gap was filled where the error was thrown, and only its code came here.
  return message.includes('{') ? reason : `${message} ${mend}`;
}

/** Whether the command ran at all; `null` when that is not known. */
export function hasRun({ status, sandbox, subject }: Pick<VerifyResult, 'status' | 'sandbox' | 'subject'>) {
  switch (status) {
    case 'completed':
    case 'timed_out':
      return true;
    case 'executor_unavailable':
    case 'rejected':
    case 'prepare_failed':
    case 'failed_to_start':
      return false;
    case 'executor_lost':
      return sandbox === null ? null : true;
    case 'cancelled':
      // Cancelled before it was prepared, it had no tree yet.
      if (sandbox !== null) return true;
      return subject.tree_before === null ? false : null;
  }
}
