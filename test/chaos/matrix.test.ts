import { expect, test } from 'vitest';
import { WORK_PHASES } from '../../schemas/ticket/phase.ts';
import { killsOf, VICTIMS } from './matrix.ts';
import { matrixLines, openCells } from './table.ts';
import type { Cell } from './ticket-run.ts';

const square = VICTIMS.flatMap((_, k) => killsOf(k, 3));
const cellsOf = (hit: Cell['hit']): readonly Cell[] =>
  square.map((planned) => ({ ...planned, hit, kill: { ...planned, what: planned.victim, at: 0, backMs: 1_200 } }));

test('as many tickets as processes kill each process once in each phase, and the same seed kills the same', () => {
  const pairs = square.map(({ phase, victim }) => `${phase} ${victim}`);
  expect(new Set(pairs).size).toBe(WORK_PHASES.length * VICTIMS.length);
  expect(killsOf(5, 3)).toEqual(killsOf(5, 3));
  expect(square.every(({ delayMs }) => delayMs >= 0 && delayMs < 600)).toBe(true);
});

test('a pair counts as hit only when the ticket was in that phase, and the table says which were not', () => {
  expect(openCells(cellsOf('in_phase'))).toEqual([]);
  const late = cellsOf('late');
  expect(openCells(late)).toHaveLength(late.length);
  expect(matrixLines(late).join('\n')).toContain('late ok 1.2s');
  expect(openCells(cellsOf('in_phase').slice(1))).toHaveLength(1);
});
