/** The end of a verification: every step is tried, whatever the ones before it came to, and none replaces the result. */
import { asPortcullisError } from '../../schemas/errors.ts';
import type { Output } from '../output.ts';

export interface CleanUpStep {
  /** Said on stderr when the step fails: what is not done now, and what follows from that. */
  readonly undone: string;
  readonly run: () => Promise<unknown>;
}

/** Never throws. */
export async function cleanUp(output: Pick<Output, 'progress'>, steps: readonly CleanUpStep[]): Promise<void> {
  for (const { undone, run } of steps) {
    try {
      await run();
    } catch (thrown) {
      const { code, message, cause } = asPortcullisError(thrown);
      const why = code === 'internal' && cause instanceof Error ? cause.message : message;
      output.progress(`${undone} (${code}: ${why})`);
    }
  }
}
