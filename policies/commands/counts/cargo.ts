/**
 * `cargo test`: one block for each test binary, from `running N tests` to `test result: …`. The lines between must be N, and
 * no more blocks may stand on stdout than binaries that cargo announced on stderr.
 */
import type { OutputReader, Tally } from './counter.ts';

const RUNNING = /^running (\d{1,9}) tests?$/;
const TEST = /^test .+ \.\.\. (?:ok|FAILED|ignored(?:, .*)?|bench: .*)$/;
const RESULT =
  /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured; \d{1,9} filtered out(?:; finished in .*)?$/;
const ANNOUNCED = /^\s+(?:Running (?:unittests |tests\/|benches\/|examples\/|bin\/)?\S|Doc-tests \S)/;

export function cargoCounter(): OutputReader {
  let tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  let open: { readonly expected: number; lines: number } | null = null;
  let blocks = 0;
  let announced = 0;
  let consistent = true;

  function closeBlock(numbers: readonly number[]): void {
    const [passed = 0, failed = 0, ignored = 0, measured = 0] = numbers;
    const sum = passed + failed + ignored + measured;
    if (open?.expected !== sum || open.lines !== sum) consistent = false;
    open = null;
    blocks += 1;
    tally = {
      passed: tally.passed + passed,
      failed: tally.failed + failed,
      skipped: tally.skipped + ignored + measured,
    };
  }

  return {
    line(stream, line) {
      if (stream === 'stderr') {
        if (ANNOUNCED.test(line)) announced += 1;
        return;
      }
      const running = RUNNING.exec(line);
      if (running !== null) {
        if (open !== null) consistent = false;
        open = { expected: Number(running[1]), lines: 0 };
        return;
      }
      const result = RESULT.exec(line);
      if (result !== null) closeBlock(result.slice(1).map(Number));
      else if (open !== null && TEST.test(line)) open.lines += 1;
    },
    finish() {
      if (blocks === 0 && open === null) return null;
      return consistent && open === null && blocks <= announced ? tally : 'unknown';
    },
  };
}
