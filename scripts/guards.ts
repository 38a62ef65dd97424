/**
 * Shows that each guard is needed: in a copy of the tree its test passes, and fails once the guard is taken away.
 * `npm run guards [PART OF A NAME…]`; 15 minutes for all on two cores.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUARDS, type Guard } from './guards/list.ts';

const ROOT = join(import.meta.dirname, '..');
/** One run of one test, set-up of its servers included. */
const RUN_MS = 240_000;

const wanted = process.argv.slice(2);
const chosen = GUARDS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const copy = mkdtempSync(join(tmpdir(), 'portcullis-guards-'));
const baselines = new Map<string, boolean>();
let unneeded = 0;
try {
  copyTree(copy);
  for (const [index, guard] of chosen.entries()) {
    const verdict = judge(guard);
    if (verdict !== 'needed') unneeded += 1;
    console.log(`${index + 1}/${chosen.length}  ${verdict.padEnd(12)}  ${guard.name}  (${guard.test}: ${guard.named})`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${chosen.length - unneeded} of ${chosen.length} guards shown to be needed`);
process.exitCode = unneeded === 0 ? 0 : 1;

function judge(guard: Guard): 'needed' | 'not needed' | 'test broken' {
  const key = `${guard.test} ${guard.named}`;
  if (!baselines.has(key)) baselines.set(key, passes(guard));
  if (baselines.get(key) !== true) return 'test broken';
  const file = join(copy, guard.file);
  const original = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    original.replace(guard.text, () => guard.without),
  );
  try {
    return passes(guard) ? 'not needed' : 'needed';
  } finally {
    writeFileSync(file, original);
  }
}

function passes({ project, test, named }: Guard): boolean {
  const pattern = named.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const args = [join(copy, 'node_modules/vitest/vitest.mjs'), 'run', '--project', project, test, '-t', pattern];
  const run = spawnSync(process.execPath, args, { cwd: copy, timeout: RUN_MS, encoding: 'utf8' });
  // A test that was not found passes too: it has to be said.
  return run.status === 0 && / passed/.test(run.stdout) && !/no tests? found/i.test(run.stdout);
}

/** What git tracks or would track, with the packages and tools of this tree. */
function copyTree(target: string): void {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  // One that is deleted and not committed yet is still listed.
  for (const file of listed.stdout.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(target, file), { recursive: true });
  }
  for (const directory of ['node_modules', '.portcullis-tools'])
    symlinkSync(join(ROOT, directory), join(target, directory));
}
