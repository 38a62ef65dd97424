/**
 * Ends what a workspace left behind: after a cancelled or killed build, and after an orphaning, Coder has answered `deleted` while the
 * compute still ran. Compute carries the run as a label (`portcullis_run`), and the sweep ends everything that carries it.
 *
 * Coder has no endpoint for this, so an installation names one of its own: `DELETE {url}?run={run}` with the token of the lifecycle
 * identity, answered by `{"ended": number}` once nothing with that label is left. The local Coder serves `/local/v1/compute`.
 */
import { z } from 'zod';
import { portcullisError } from '../../schemas/errors.ts';

export interface ComputeSweep {
  /** How many were ended; null when no sweep is set up. @throws `coder_unavailable`, `coder_unreadable` */
  sweep(run: string, signal: AbortSignal): Promise<number | null>;
}

/** For a server without one: an operator is told that nothing was swept. */
export const NO_SWEEP: ComputeSweep = { sweep: () => Promise.resolve(null) };

const answer = z.object({ ended: z.int().min(0) });
const OPERATION = 'sweep compute';

export function httpComputeSweep(url: string, token: string): ComputeSweep {
  return {
    async sweep(run, signal) {
      let response: Response;
      let body: unknown;
      try {
        const asked = new URL(url);
        asked.searchParams.set('run', run);
        response = await fetch(asked, {
          method: 'DELETE',
          headers: { 'Coder-Session-Token': token },
          signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
        });
        body = await response.json();
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        throw portcullisError('coder_unavailable', { operation: OPERATION, reason: 'no answer' }, thrown);
      }
      if (!response.ok) {
        throw portcullisError('coder_unavailable', { operation: OPERATION, reason: `HTTP ${response.status}` });
      }
      const read = answer.safeParse(body);
      if (!read.success) throw portcullisError('coder_unreadable', { operation: OPERATION, reason: 'no count' });
      return read.data.ended;
    },
  };
}
