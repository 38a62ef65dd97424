/** The executor's one activity, `runCommand`: a run with heartbeats, cancelled when Temporal says so. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { asPortcullisError } from '../../schemas/errors.ts';
import type { ExecutorActivities } from '../../schemas/verify/activities.ts';
import { runAction, type ExecutorContext } from './run-action.ts';

/** A cancel reaches the command with the answer to the next heartbeat. */
const HEARTBEAT_MS = 200;

export interface ActivitySettings {
  readonly context: ExecutorContext;
  /** The door no longer knows this run: it is over, or the credential was revoked. Called when the command is gone. */
  readonly onDisowned: () => void;
}

export function createExecutorActivities({ context, onDisowned }: ActivitySettings): ExecutorActivities {
  return {
    async runCommand(signed) {
      const activity = Context.current();
      const beat = setInterval(() => activity.heartbeat(), HEARTBEAT_MS);
      try {
        const report = await runAction(context, signed, {
          workflowId: activity.info.workflowExecution?.workflowId ?? '',
          cancellation: activity.cancellationSignal,
        });
        // A run that somebody asked to cancel ends with its report. One that was cut off for another reason has no outcome
        // of its own: nobody may read "cancelled" where the truth is that the executor went away.
        if (report.outcome === 'cancelled' && activity.cancellationDetails?.cancelRequested !== true) throw lost();
        return report;
      } catch (error) {
        if (error instanceof ApplicationFailure) throw error;
        const { code, message } = asPortcullisError(error);
        throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
      } finally {
        clearInterval(beat);
        if (activity.cancellationDetails?.notFound === true) onDisowned();
      }
    },
  };
}

function lost(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'executor_lost',
    message: 'The executor stopped while the command ran.',
    nonRetryable: true,
  });
}
