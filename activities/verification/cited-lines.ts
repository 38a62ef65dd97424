/** What a report cites, as it is in our own repository: lines of the head, and which of them the change touches. */
import { contentDigest } from '../../schemas/digest.ts';
import type { FindingsRecord } from '../../schemas/gate/activities.ts';
import type { LineRange } from '../../schemas/gate/finding.ts';
import { checkedCommit } from '../../schemas/git/refs.ts';
import type { ReportedLines, ReviewReport } from '../../schemas/verification/report.ts';
import { readFileAt } from '../git/files.ts';
import { git } from '../git/run.ts';

/** Larger files have no lines that a person would cite. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

export interface CitedChange {
  readonly gitDir: string;
  /** Names the repository in the records. */
  readonly resourceId: string;
  readonly base: string;
  readonly head: string;
}

export interface CitedLines {
  readonly linesAt: (lines: ReportedLines) => LineRange | null;
  readonly changedLines: FindingsRecord['changedLines'];
}

/** @throws `repository_invalid`, `not_found` when a commit is not there */
export async function citedLines(change: CitedChange, { findings }: ReviewReport): Promise<CitedLines> {
  const cited = findings.flatMap(({ location, changed_range }) =>
    [location?.path ?? [], changed_range?.path ?? []].flat(),
  );
  const files = new Map<string, readonly string[]>();
  const changedLines: FindingsRecord['changedLines'][number][] = [];
  for (const path of new Set(cited)) {
    const read = await readFileAt(change.gitDir, { commit: change.head, path, maxBytes: MAX_FILE_BYTES });
    if (read.state !== 'present') continue;
    files.set(path, linesOf(read.bytes));
    changedLines.push(...(await changedLinesOf(change, path)));
  }
  return { linesAt: (lines) => rangeOf(change.resourceId, files.get(lines.path), lines), changedLines };
}

/** Bytes as latin1 so that any file has lines, and their digest is of the bytes. */
function linesOf(bytes: Buffer): readonly string[] {
  const lines = bytes.toString('latin1').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function rangeOf(resourceId: string, file: readonly string[] | undefined, lines: ReportedLines): LineRange | null {
  const { path, from_line: fromLine, to_line: toLine } = lines;
  if (file === undefined || toLine > file.length) return null;
  const bytes = Buffer.from(`${file.slice(fromLine - 1, toLine).join('\n')}\n`, 'latin1');
  return { resourceId, path, fromLine, toLine, digest: contentDigest(bytes) };
}

/** Always as text: attributes of the tree that is judged do not choose what counts as changed. */
async function changedLinesOf(
  { gitDir, base, head }: CitedChange,
  path: string,
): Promise<FindingsRecord['changedLines']> {
  const options = ['--unified=0', '--text', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
  const args = ['--literal-pathspecs', 'diff', ...options, checkedCommit(base), checkedCommit(head), '--', path];
  const text = (await git({ gitDir, args })).toString('latin1');
  return [...text.matchAll(/^@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,([0-9]+))? @@/gm)].map(([, from, count]) => {
    const first = Number(from);
    const lines = count === undefined ? 1 : Number(count);
    // Where lines were only taken away, those on both sides of the gap are what the change touches.
    return lines === 0
      ? { path, fromLine: Math.max(1, first), toLine: first + 1 }
      : { path, fromLine: first, toLine: first + lines - 1 };
  });
}
