/**
 * Says what a run of the suite came to. Ends with 1 when a test failed that is not known to, or one that is known to passed.
 *
 * @example node test/a2a/tck/check-report.ts reports/junitreport.xml
 */
import { readFileSync } from 'node:fs';
import { readReport } from './report.ts';

const { passed, skipped, failed, surprising, mended } = readReport(readFileSync(process.argv[2] ?? '', 'utf8'));
process.stdout.write(`${passed} passed, ${failed.length} failed, ${skipped} skipped\n`);
for (const name of surprising) process.stdout.write(`not known to fail: ${name}\n`);
for (const name of mended) process.stdout.write(`known to fail, and passed: ${name}\n`);
process.exitCode = surprising.length + mended.length === 0 ? 0 : 1;
