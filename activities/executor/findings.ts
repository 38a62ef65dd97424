/** What is found when a command has ended: artifacts, the tracked files as they are now, and counts. */
import { reporterFile, type Counter, type Counts } from '../../policies/commands/counts/counter.ts';
import type { Action } from '../../schemas/verify/action.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { hashArtifacts } from './artifacts.ts';
import type { ExportedTree } from './checkout.ts';
import type { ContainedEnding } from './contained-run.ts';
import type { RunDirectory } from './run-directory.ts';
import { readInside } from './safe-files.ts';
import { treeAfter } from './tree-after.ts';

const MAX_REPORT_BYTES = 16 * 1024 * 1024;

export type WorkFindings = Pick<ExecutorReport, 'artifacts' | 'missing_artifacts' | 'tree_after'>;

/** What the command left of its copy; `null` when the run was cancelled before everything had been looked at. */
export async function lookAtWork(
  directory: RunDirectory,
  action: Action,
  exported: ExportedTree | null,
  cancellation: AbortSignal,
): Promise<WorkFindings | null> {
  try {
    const { found, missing } = await hashArtifacts(directory.work, action.artifacts, cancellation);
    const tree = exported === null ? null : await treeAfter(directory.work, exported, cancellation);
    return { artifacts: found, missing_artifacts: missing, tree_after: tree };
  } catch (error) {
    if (cancellation.aborted) return null;
    throw error;
  }
}

/** `null` for a command that runs no tests. */
export async function readCounts(
  directory: RunDirectory,
  action: Action,
  counter: Counter | null,
  ending: ContainedEnding,
): Promise<Counts | null> {
  if (counter === null || action.counts === null) return null;
  // A run that was stopped has counted an unknown part of what it would have.
  if (ending.outcome !== 'exited') return 'unknown';
  const file = reporterFile(action.counts.parser);
  const report = file === null ? null : await readInside(directory.report, file, MAX_REPORT_BYTES);
  return counter.finish({ exitCode: ending.exitCode, report });
}
