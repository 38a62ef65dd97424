/** Plans a preparation: which lockfile, and what the tool may be handed. */
import type { PrepareStep } from '../../../schemas/verify/prepare.ts';
import { planNpm } from './npm-plan.ts';
import { planCargo } from './cargo-plan.ts';
import { planGo } from './go-plan.ts';
import { planPip } from './pip-plan.ts';
import { planPnpm } from './pnpm-plan.ts';
import type { CommitFiles, PlanPreparation, PreparePlan } from './types.ts';

export async function planFor(step: PrepareStep, files: CommitFiles): Promise<PreparePlan> {
  let lockfile: string | null = null;
  for (const candidate of step.lockfiles) {
    if (lockfile === null && (await files.read(candidate)) !== null) lockfile = candidate;
  }
  return plannerOf(step)(files, lockfile, step);
}

function plannerOf({ tool }: PrepareStep): PlanPreparation {
  switch (tool) {
    case 'npm':
      return planNpm;
    case 'pnpm':
      return planPnpm;
    case 'cargo':
      return planCargo;
    case 'go':
      return planGo;
    case 'python3':
      return planPip;
  }
}
