/**
 * Prints how many tests carry each invariant's number, and which have none. Fails for one without a test that no open issue
 * owes, and for a number that does not exist: `npm run invariants`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INVARIANTS } from './invariant-list.ts';

const ROOT = join(import.meta.dirname, '..');
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.portcullis', '.portcullis-tools', 'examples']);

const counts = new Map<number, number>(INVARIANTS.map(({ number }) => [number, 0]));
const unknown: string[] = [];
for (const file of testFiles(ROOT)) {
  for (const [, digits] of readFileSync(file, 'utf8').matchAll(/\[inv-(\d{2})\]/g)) {
    const number = Number(digits);
    const seen = counts.get(number);
    if (seen === undefined) unknown.push(`${file}: [inv-${digits ?? ''}]`);
    else counts.set(number, seen + 1);
  }
}

const bare = INVARIANTS.filter(({ number }) => counts.get(number) === 0);
for (const { number, name } of INVARIANTS) {
  console.log(`inv-${String(number).padStart(2, '0')}  ${String(counts.get(number)).padStart(4)} named tests  ${name}`);
}
for (const { number, name, owedBy } of bare) {
  console.log(
    `no test yet: inv-${number} (${name}), ${owedBy === null ? 'owed by nobody' : `owed by issue ${owedBy}`}`,
  );
}
for (const where of unknown) console.log(`no such invariant: ${where}`);
process.exitCode = unknown.length > 0 || bare.some(({ owedBy }) => owedBy === null) ? 1 : 0;

function* testFiles(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* testFiles(path);
    else if (entry.name.endsWith('.test.ts')) yield path;
  }
}
