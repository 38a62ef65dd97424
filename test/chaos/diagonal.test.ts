/** A part of `npm run chaos` that is always run: one ticket, in each of whose phases another process is killed. */
import { expect, test } from 'vitest';
import { killsOf } from './matrix.ts';
import { soak } from './soak.ts';

/** Store, Temporal, FORGE's executor, egress, Coder, gate worker, control worker, gateway. */
const SEED = 7;

test(
  '[inv-18] kill -9 of each process once, one in each phase of a ticket: it merges what was judged, and nothing is lost',
  { timeout: 300_000 },
  async () => {
    const said: string[] = [];
    const { faults, cells, tickets } = await soak({
      next: (k) => (k === 0 ? killsOf(0, SEED) : null),
      say: (text) => void said.push(text),
    });
    expect(faults, said.join('\n')).toEqual([]);
    expect(tickets).toBe(1);
    const hit = cells.filter((cell) => cell.kill !== null);
    expect(hit.map(({ victim }) => victim).toSorted()).toEqual(cells.map(({ victim }) => victim).toSorted());
  },
);
