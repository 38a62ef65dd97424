/** The public state of a task that ended with a status (spec/delegated-verification.md section 5). */
import type { VerifyStatus } from '../../schemas/verify/result.ts';
import type { WorkingDirectory } from '../../schemas/verify/request.ts';
import type { TaskState } from '../../schemas/verify/task.ts';

/** A mirrored answer is `completed` even when tests failed; infrastructure outcomes are `failed`. */
export function taskStateOf(status: VerifyStatus): TaskState {
  switch (status) {
    case 'completed':
    case 'timed_out':
      return 'completed';
    case 'cancelled':
      return 'canceled';
    case 'executor_unavailable':
    case 'executor_lost':
    case 'prepare_failed':
    case 'failed_to_start':
    case 'rejected':
      return 'failed';
  }
}

/**
 * Seconds for which the same request is answered with this result. Infrastructure outcomes are never reused, and neither is
 * what was found in a live tree: the request names it, not what is in it.
 */
export function reuseSeconds(status: VerifyStatus, windowSeconds: number, cwd: WorkingDirectory): number {
  if (cwd === 'worktree') return 0;
  return status === 'completed' || status === 'timed_out' ? windowSeconds : 0;
}
