/**
 * `go test -json`: one JSON event a line. What a test prints stands inside an event's `Output`, so printing a summary counts
 * for nothing. Every test and package that began must have ended.
 */
import type { OutputReader } from './counter.ts';

const ENDINGS = ['pass', 'fail', 'skip'] as const;
type Ending = (typeof ENDINGS)[number];

interface GoEvent {
  readonly action: string;
  readonly package: string;
  /** Absent for an event about the package. */
  readonly test: string | null;
}

/** Distinct tests that are followed; more than that is not counted. */
const MAX_TESTS = 1_000_000;

export function goCounter(): OutputReader {
  const running = new Set<string>();
  const ended = new Map<string, Ending>();
  const packages = new Set<string>();
  let packagesFailed = 0;
  let consistent = true;
  let seen = false;

  function onTest(key: string, action: string): void {
    const ending = ENDINGS.find((one) => one === action);
    if (action === 'run') running.add(key);
    if (ending === undefined) return;
    if (!running.delete(key) || ended.has(key) || ended.size > MAX_TESTS) consistent = false;
    ended.set(key, ending);
  }

  function onPackage(name: string, action: string): void {
    if (action === 'start') packages.add(name);
    else if (action === 'pass' || action === 'skip') packages.delete(name);
    else if (action === 'fail') {
      packages.delete(name);
      packagesFailed += 1;
    }
  }

  return {
    line(stream, line) {
      if (stream === 'stderr' || line === '') return;
      const event = parseEvent(line);
      if (event === null) {
        consistent = false;
        return;
      }
      seen = true;
      if (event.test === null) onPackage(event.package, event.action);
      else onTest(`${event.package} ${event.test}`, event.action);
    },
    finish() {
      if (!seen) return null;
      if (!consistent || running.size > 0 || packages.size > 0) return 'unknown';
      const count = (ending: Ending) => [...ended.values()].filter((one) => one === ending).length;
      const failed = count('fail');
      // A package can fail without a failed test (it did not build, or its TestMain said so): that is a failure too.
      return { passed: count('pass'), failed: failed === 0 ? packagesFailed : failed, skipped: count('skip') };
    },
  };
}

function parseEvent(line: string): GoEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('Action' in value)) return null;
  const name = 'Package' in value ? value.Package : 'ImportPath' in value ? value.ImportPath : '';
  const test = 'Test' in value ? value.Test : null;
  if (typeof value.Action !== 'string' || typeof name !== 'string') return null;
  return { action: value.Action, package: name, test: typeof test === 'string' ? test : null };
}
