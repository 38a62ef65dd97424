/**
 * Whether the tests that rows of `policies/commands/attacks.json` name (`walk: test`) are there, ran and passed. A name in a
 * file proves nothing: the test could be skipped, renamed by its table or never be reached. So the run itself is asked, at its end.
 */
import type { Attack } from './command-attacks.ts';

export type TestRow = Extract<Attack, { walk: 'test' }>;

export interface RanTest {
  /** Its own name, without those of the groups around it. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
}

/** Tests of each file that was run, by its path in the repository. */
export type RanFiles = ReadonlyMap<string, readonly RanTest[]>;

/**
 * What is not shown, a sentence each. Rows of files that were not part of the run say nothing, unless it was the `whole` one.
 * A test may be skipped only where the tool that its row `needs` is not among `tools`.
 */
export function unshown(
  rows: readonly TestRow[],
  ran: RanFiles,
  { tools, whole }: { readonly tools: ReadonlySet<string>; readonly whole: boolean },
): readonly string[] {
  return rows.flatMap(({ row, attempt, file, test, needs }) => {
    const tests = ran.get(file);
    const problem = tests === undefined ? (whole ? 'its file is not run' : null) : problemOf(tests, test);
    const isExcused = problem === SKIPPED && needs !== undefined && !tools.has(needs);
    return problem === null || isExcused ? [] : [`row ${row}, ${attempt}: ${problem} (${file}: ${test})`];
  });
}

const SKIPPED = 'its test was skipped';

function problemOf(tests: readonly RanTest[], name: string): string | null {
  const [found, second] = tests.filter((one) => one.name === name);
  if (found === undefined) return 'there is no such test';
  if (second !== undefined) return 'two tests have that name';
  if (found.state === 'passed') return null;
  return found.state === 'failed' ? 'its test failed' : SKIPPED;
}
