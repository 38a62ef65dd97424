/** One command in its sandbox, within every limit that can be enforced on this machine. */
import type { CommandLimits } from '../../schemas/verify/action.ts';
import type { EndingLimit } from '../../schemas/verify/report.ts';
import { runContained, type ContainedCommand, type ContainedEnding } from './contained-run.ts';
import { openContainment } from './containment.ts';
import type { SandboxProbe } from './probe.ts';
import type { RunDirectory } from './run-directory.ts';

export interface LimitedEnding {
  readonly ending: ContainedEnding;
  /** Limits that it crossed, whether or not that ended it as a whole. */
  readonly crossed: readonly EndingLimit[];
}

/** @throws an error of the file system when the delegated cgroup cannot be used any more */
export async function runLimited(
  probe: SandboxProbe,
  limits: CommandLimits,
  { path }: Pick<RunDirectory, 'path'>,
  command: Omit<ContainedCommand, 'joins' | 'watch'>,
): Promise<LimitedEnding> {
  const containment = await openContainment(probe, limits, path);
  try {
    const ending = await runContained({ ...command, joins: containment.joins, watch: containment.watch });
    const crossed = await containment.crossed();
    return { ending, crossed: ending.exceeded === null ? crossed : [...crossed, ending.exceeded] };
  } finally {
    await containment.close();
  }
}
