/** The matrix as people read it: a row for each phase, a column for each process. */
import { WORK_PHASES } from '../../schemas/ticket/phase.ts';
import { VICTIMS } from './matrix.ts';
import type { Cell } from './ticket-run.ts';

const WIDTH = 11;

/** In a cell: how long everything took to serve again; `late` when the phase was over, `-` where nothing was killed. */
export function matrixLines(cells: readonly Cell[]): readonly string[] {
  const header = ['', ...VICTIMS].map((word, column) => (column === 0 ? word.padEnd(15) : word.padEnd(WIDTH))).join('');
  const rows = WORK_PHASES.map((phase) => {
    const words = VICTIMS.map((victim) => {
      const best = bestOf(cells.filter((cell) => cell.phase === phase && cell.victim === victim));
      return wordOf(best).padEnd(WIDTH);
    });
    return `${phase.padEnd(15)}${words.join('')}`;
  });
  return [header, ...rows].map((line) => line.trimEnd());
}

/** Pairs of which no ticket was hit in the phase itself. */
export function openCells(cells: readonly Cell[]): readonly Pick<Cell, 'phase' | 'victim'>[] {
  return WORK_PHASES.flatMap((phase) =>
    VICTIMS.filter((victim) => {
      const best = bestOf(cells.filter((cell) => cell.phase === phase && cell.victim === victim));
      return best?.hit !== 'in_phase';
    }).map((victim) => ({ phase, victim })),
  );
}

function bestOf(cells: readonly Cell[]): Cell | undefined {
  return cells.find(({ hit }) => hit === 'in_phase') ?? cells.find(({ hit }) => hit === 'late') ?? cells[0];
}

function wordOf(cell: Cell | undefined): string {
  if (cell === undefined) return '-';
  if (cell.kill === null) return 'missed';
  const back = cell.victim === 'workspace' ? 'ok' : `ok ${(cell.kill.backMs / 1000).toFixed(1)}s`;
  return cell.hit === 'late' ? `late ${back}` : back;
}
