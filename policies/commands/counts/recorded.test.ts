/** The counters on what the real tools printed and wrote (test/fixtures/counts/README.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CountParser } from '../../../schemas/verify/action.ts';
import { createCounter, type Counts } from './counter.ts';

const recordingSchema = z.strictObject({
  tool: z.enum(['node', 'vitest', 'jest', 'bun', 'pytest', 'cargo', 'go']),
  version: z.string(),
  /** `mixed`, `printing` (other runners' summaries), `forging` (a summary of its own runner), `quiet`, `nothing`. */
  case: z.enum(['mixed', 'printing', 'forging', 'quiet', 'nothing']),
  command: z.string(),
  exitCode: z.int(),
  stdout: z.array(z.string()),
  stderr: z.array(z.string()),
  report: z.array(z.string()).nullable(),
});
type Recording = z.infer<typeof recordingSchema>;

const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'counts');
const RECORDINGS = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.json'))
  .map((name) => recordingSchema.parse(JSON.parse(readFileSync(join(FIXTURES, name), 'utf8'))));

const OWN_PARSER: Readonly<Record<Recording['tool'], CountParser>> = {
  node: 'node-test',
  vitest: 'vitest',
  jest: 'jest',
  bun: 'bun-test',
  pytest: 'pytest',
  cargo: 'cargo-test',
  go: 'go-test',
};

/** Runners that `npm test` and `make test` may start. */
const BY_SCRIPT = RECORDINGS.filter(({ tool }) => tool !== 'go');

function countAs(parser: CountParser, { stdout, stderr, report, exitCode }: Recording): Counts {
  const counter = createCounter(parser);
  // Which stream is read first must not matter: the two come through pipes of their own.
  for (const line of stdout) counter.line('stdout', line);
  for (const line of stderr) counter.line('stderr', line);
  return counter.finish({ exitCode, report: report?.join('\n') ?? null });
}

const countOf = (recording: Recording) => countAs(OWN_PARSER[recording.tool], recording);
const executedOf = (counts: Counts) => (counts === 'unknown' ? 0 : counts.executed);
const named = (recordings: readonly Recording[]) =>
  recordings.map((one) => [`${one.tool} ${one.version} (${one.case})`, one] as const);
const ofCase = (name: string) => named(RECORDINGS.filter((one) => one.case === name));

/** One that says something else: a green run of one test. */
function anotherRunOf({ tool, version }: Recording): Recording {
  const found = RECORDINGS.find((one) => one.tool === tool && one.version === version && one.case === 'printing');
  if (found === undefined) throw new Error(`there is no other recording of ${tool} ${version}`);
  return found;
}

function interleaved(first: readonly string[], second: readonly string[]): string[] {
  const longest = Math.max(first.length, second.length);
  return Array.from({ length: longest }, (_, index) => [first[index] ?? '', second[index] ?? '']).flat();
}

/** What the projects of the `mixed` recordings hold. */
const MIXED: Readonly<
  Record<Recording['tool'], { readonly passed: number; readonly failed: number; readonly skipped: number }>
> = {
  node: { passed: 2, failed: 1, skipped: 1 },
  vitest: { passed: 2, failed: 1, skipped: 1 },
  jest: { passed: 2, failed: 1, skipped: 1 },
  bun: { passed: 2, failed: 1, skipped: 1 },
  // An expected failure counts as skipped; a test whose teardown failed as an error and, before pytest 9, as passed too.
  pytest: { passed: 3, failed: 2, skipped: 2 },
  cargo: { passed: 1, failed: 1, skipped: 1 },
  go: { passed: 2, failed: 1, skipped: 1 },
};

describe('recordings of real runs', () => {
  it('are of two versions of every runner', () => {
    const versions = (tool: string) => new Set(RECORDINGS.filter((one) => one.tool === tool).map((one) => one.version));
    for (const tool of ['node', 'vitest', 'jest', 'bun', 'pytest', 'cargo', 'go'])
      expect(versions(tool).size).toBeGreaterThan(1);
  });

  it.each(ofCase('mixed'))('%s: what passed, failed and was skipped', (_, recording) => {
    const provenance = recording.report === null ? 'stdout' : 'reporter_file';
    const { failed, skipped, ...mixed } = MIXED[recording.tool];
    const passed = `${recording.tool} ${recording.version}` === 'pytest 9.2.0' ? 2 : mixed.passed;
    expect(countOf(recording)).toEqual({ executed: passed + failed, passed, failed, skipped, provenance });
  });

  it.each(ofCase('quiet'))('%s: a project that asks for less output', (_, recording) => {
    expect(countOf(recording)).toMatchObject({ executed: 1, provenance: 'reporter_file' });
  });

  it('[inv-02] go: a TestMain that runs no test has executed none', () => {
    const found = RECORDINGS.filter((one) => one.case === 'nothing');
    expect(found).toHaveLength(2);
    for (const one of found) expect(countOf(one)).toMatchObject({ executed: 0, passed: 0, skipped: 0 });
  });

  it.each(ofCase('printing'))("[inv-02] %s: another runner's summary, printed, raises nothing", (_, recording) => {
    expect(countOf(recording)).toMatchObject({ executed: 1, passed: 1 });
  });

  it.each(ofCase('forging'))("[inv-02] %s: the runner's own summary, printed, raises nothing", (_, recording) => {
    expect(executedOf(countOf(recording))).toBeLessThanOrEqual(1);
  });

  it.each(named(BY_SCRIPT.filter((one) => one.case !== 'mixed')))(
    '[inv-02] %s: as a script, no printed summary raises a count',
    (_, recording) => {
      expect(executedOf(countAs('runner-summary', recording))).toBeLessThanOrEqual(1);
    },
  );

  it.each(named(RECORDINGS.filter((one) => one.case === 'mixed')))(
    '[inv-07] %s: cut off anywhere, it is whole or unknown',
    (_, recording) => {
      const whole = countOf(recording);
      for (let end = 0; end < recording.stdout.length; end += 1) {
        const stdout = recording.stdout.slice(0, end);
        const counts = countOf({ ...recording, stdout });
        if (counts !== 'unknown') expect(counts).toEqual(whole);
      }
      const report = recording.report?.filter((line) => line !== '') ?? [];
      for (let end = 0; end < report.length; end += 1) {
        expect(countOf({ ...recording, report: report.slice(0, end) })).toBe('unknown');
      }
    },
  );

  it.each(named(RECORDINGS.filter((one) => one.case === 'mixed' && one.report !== null)))(
    '[inv-02] %s: the report of another run is not taken for its own',
    (_, recording) => {
      const { report } = anotherRunOf(recording);
      expect(countOf({ ...recording, exitCode: 0, report })).toBe('unknown');
    },
  );

  it.each(named(RECORDINGS.filter((one) => one.case === 'mixed')))(
    '[inv-02] %s: interleaved with another run of the tool, it is unknown',
    (_, recording) => {
      const other = anotherRunOf(recording);
      for (const [first, second] of [
        [recording, other],
        [other, recording],
      ] as const) {
        const stdout = interleaved(first.stdout, second.stdout);
        const stderr = interleaved(first.stderr, second.stderr);
        expect(countOf({ ...recording, stdout, stderr })).toBe('unknown');
      }
    },
  );

  it.each(named(RECORDINGS.filter((one) => one.case === 'mixed')))(
    '[inv-07] %s: a failure that the exit code denies is unknown',
    (_, recording) => {
      expect(countOf({ ...recording, exitCode: 0 })).toBe('unknown');
    },
  );
});
