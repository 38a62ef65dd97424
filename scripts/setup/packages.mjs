import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError, run, say } from './say.mjs';

/** Runs `npm ci` when the installed tree is not the one that the lock names. */
export function ensurePackages(root) {
  if (!treeMatchesLock(root)) {
    say('installing packages (npm ci) …');
    // Under an older Node npm warns about each package that wants a newer one; the program runs on the pinned one.
    const status = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root });
    if (status !== 0) {
      throw new SetupError(`npm ci ended with ${status ?? 'no exit code'}`, 'Its output above says why.');
    }
  }
  // The program itself runs on the pinned Node, whose own install script may have been switched off.
  if (!existsSync(join(root, 'node_modules/.bin/node')) || !existsSync(join(root, 'node_modules/node/bin/node'))) {
    throw new SetupError(
      'the pinned Node 24 was not installed',
      'Its install script must run: npm ci --ignore-scripts=false (or npm rebuild node).',
    );
  }
}

/**
 * Compares by content, not by time: a checkout touches the lock without changing it. npm records what it installed in
 * `node_modules/.package-lock.json`; optional packages of other platforms are missing there by right.
 */
export function treeMatchesLock(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'));
  if (wanted === null || installed === null) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path];
    if (there === undefined ? entry.optional !== true : there.version !== entry.version) return false;
  }
  return Object.keys(installed).every((path) => path in wanted);
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}
