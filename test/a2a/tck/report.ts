/** Reads the suite's JUnit report: how many passed, which failed, and what is not as it is known to be. */
import { KNOWN_FAILURES } from './known-failures.ts';

export interface SuiteOutcome {
  readonly passed: number;
  readonly skipped: number;
  readonly failed: readonly string[];
  /** Failed and not known to fail. */
  readonly surprising: readonly string[];
  /** Known to fail, and did not. */
  readonly mended: readonly string[];
}

export function readReport(xml: string, known: Readonly<Record<string, string>> = KNOWN_FAILURES): SuiteOutcome {
  const failed: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const [, attributes = '', self, body = ''] of xml.matchAll(
    /<testcase\b([^>]*?)(?:(\/)>|>(.*?)<\/testcase>)/gs,
  )) {
    if (self === undefined && /<(?:failure|error)\b/.test(body)) failed.push(nameOf(attributes));
    else if (self === undefined && /<skipped\b/.test(body)) skipped += 1;
    else passed += 1;
  }
  return {
    passed,
    skipped,
    failed,
    surprising: failed.filter((name) => !Object.hasOwn(known, name)),
    mended: Object.keys(known).filter((name) => !failed.includes(name)),
  };
}

/** Module, class if any, and test. */
function nameOf(attributes: string): string {
  const [, path = ''] = /\bclassname="([^"]*)"/.exec(attributes) ?? [];
  const [, name = ''] = /\bname="([^"]*)"/.exec(attributes) ?? [];
  const parts = path.split('.');
  return [...parts.slice(parts.findLastIndex((part) => part.startsWith('test_'))), name].join('.');
}
