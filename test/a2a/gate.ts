/** Holds a scripted run until the test lets it go on, or somebody cancels it: as an executor that heartbeats would. */
import { Context } from '@temporalio/activity';

export interface Gate {
  open(): void;
  /** Called in the activity. @throws `CancelledFailure` when it is cancelled first */
  pass(): Promise<void>;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return {
    open: () => resolve(undefined),
    pass: async () => {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), 100);
      try {
        await Promise.race([promise, context.cancelled]);
      } finally {
        clearInterval(beat);
      }
    },
  };
}
