/** Tickets one after the other on one stack, each over its own kills, each proved at its end. */
import { startStack, type Stack } from '../e2e/stage.ts';
import { openWitness } from './audit.ts';
import type { PlannedKill } from './matrix.ts';
import { faultsOf } from './proofs.ts';
import { runTicket, type Cell } from './ticket-run.ts';

export interface SoakReport {
  readonly cells: readonly Cell[];
  /** What does not hold; nothing when all is well. */
  readonly faults: readonly string[];
  /** Tickets that came to their end. */
  readonly tickets: number;
}

export interface SoakOptions {
  /** The kills of the next ticket, seeing those so far; `null`: enough. */
  readonly next: (k: number, cells: readonly Cell[]) => readonly PlannedKill[] | null;
  readonly say: (text: string) => void;
  /** Called with the stack before it is stopped, when something does not hold: for keeping its logs. */
  readonly onFault?: (stack: Stack) => void;
}

/** A ticket that does not come to its end is a fault, and the last one. */
export async function soak({ next, say, onFault }: SoakOptions): Promise<SoakReport> {
  const stack = await startStack();
  const temporal = await stack.temporal();
  const witness = await openWitness(stack);
  const cells: Cell[] = [];
  const faults: string[] = [];
  let tickets = 0;
  try {
    for (let k = 0; faults.length === 0; k += 1) {
      const kills = next(k, cells);
      if (kills === null) break;
      const run = await runTicket(stack, `T-${700 + k}`, kills, say);
      cells.push(...run.cells);
      tickets += 1;
      faults.push(...(await faultsOf(stack, temporal.client, run)));
      await witness.look();
      say(`${run.ticket.id} merged after ${run.seconds.toFixed(1)} s`);
    }
    faults.push(...(await witness.faults()));
  } catch (thrown) {
    faults.push(thrown instanceof Error ? thrown.message : String(thrown));
  } finally {
    if (faults.length > 0) onFault?.(stack);
    await witness.close();
    await temporal.close();
    await stack.close();
  }
  return { cells, faults, tickets };
}
