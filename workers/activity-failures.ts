/**
 * Errors of the catalogue cross from an activity to its workflow by code: `ApplicationFailure.type` is the code, so that
 * workflows and retry policies never look at the text.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { PortcullisError } from '../schemas/errors.ts';

export const activityFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (thrown) {
        throw asActivityFailure(thrown);
      }
    },
  },
});

/** A catalogue error as the failure that Temporal carries; anything else as it is. */
export function asActivityFailure(thrown: unknown): unknown {
  if (!(thrown instanceof PortcullisError)) return thrown;
  return ApplicationFailure.create({
    message: thrown.message,
    type: thrown.code,
    details: [thrown.details],
    cause: thrown,
  });
}
