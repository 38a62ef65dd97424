/** What this machine has: Node, packages, programs, a sandbox, room. */
import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describeContainment } from '../../activities/executor/containment.ts';
import { probeSandbox } from '../../activities/executor/probe.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import { onPath, storeServer, temporalCli, timeSkippingServer, versionOf } from '../binaries.ts';
import { PACKAGE_ROOT, isClone } from '../package-root.ts';
import { tryDelegation } from '../workspace/delegation.ts';
import { fail, ok, skip, warn, type Check } from './check.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const LEAST_FREE_BYTES = 512 * 1024 * 1024;
const COMFORTABLE_FREE_BYTES = 2 * 1024 * 1024 * 1024;

export function checkNode(): Check {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major >= 24) return ok('node', process.version);
  return fail('node', `${process.version} is too old`, 'Run it with Node 24: npm run setup brings it into the clone.');
}

/** Packages that load native code or are needed for every command: present, and loadable on this platform. */
export function checkPackages(): Check {
  const require = createRequire(join(PACKAGE_ROOT, 'package.json'));
  for (const name of ['@temporalio/core-bridge', '@temporalio/worker', '@grpc/grpc-js', 'ioredis', 'express']) {
    try {
      require(name);
    } catch (error) {
      const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      return fail(
        'packages',
        `${name} cannot be loaded: ${reason}`,
        isClone() ? 'Run: npm run setup' : 'Install it again.',
      );
    }
  }
  return ok('packages', 'installed, native parts load');
}

/** @param external true when the operator names a server of their own, so that the program is not needed */
export function checkProgram(
  name: 'temporal' | 'store-server' | 'time-skipping-server',
  environment: Environment,
  external: boolean,
): Check {
  try {
    const path = locate(name, environment);
    // The time-skipping server knows no --version.
    const version = name === 'time-skipping-server' ? '' : `${versionOf(path) ?? 'does not run'}, `;
    return ok(name, `${version}${path}`);
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    if (external) return skip(name, 'not needed: a server is named in the settings');
    // Only tests use it.
    if (name === 'time-skipping-server') return warn(name, error.message, error.mend);
    return fail(name, error.message, error.mend);
  }
}

export function checkGit(environment: Environment): Check {
  const path = onPath('git', environment);
  if (path === null) return fail('git', 'git is not on PATH', 'Install git 2.30 or newer.');
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(versionOf(path) ?? '') ?? [];
  const found = `${major}.${minor}, ${path}`;
  const serves = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 30);
  return serves ? ok('git', found) : fail('git', `${found} is too old`, 'Install git 2.30 or newer.');
}

/** What enters a workspace is a Python program: without it no command can be verified here. */
export function checkPython(environment: Environment): Check {
  const path = onPath('python3', { ...environment, PATH: `/usr/bin:/usr/local/bin:${environment['PATH'] ?? ''}` });
  if (path === null) return fail('python3', 'python3 is not there, and every workspace needs it', 'Install python3.');
  return ok('python3', `${versionOf(path) ?? 'does not run'}, ${path}`);
}

/** Makes one sandbox of the kind that commands get: whether namespaces are allowed can only be told by asking. */
export async function checkSandbox(): Promise<Check> {
  try {
    const probe = await probeSandbox();
    // What a workspace on this machine has is what counts: it is never root, and its launcher delegates a cgroup where it may.
    const { delegated, reason } = await tryDelegation();
    const inside = { ...probe, limitsProcesses: true, cgroup: delegated };
    const found = `${describeContainment(inside)}; ${probe.bwrap}, user namespaces work`;
    if (delegated !== null) return ok('sandbox', found);
    return ok('sandbox', `${found}; no limit on the memory of a run as a whole: ${reason}`);
  } catch (thrown) {
    const { message, mend } = asPortcullisError(thrown);
    const how =
      'Install the package bubblewrap; where it is there, allow user namespaces ' +
      '(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, or a profile for bwrap).';
    return fail('sandbox', message, message.includes('sandbox') ? how : mend);
  }
}

export async function checkDisk(stateDir: string): Promise<Check> {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(stateDir);
    const free = bavail * bsize;
    const found = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${stateDir}`;
    if (free < LEAST_FREE_BYTES) return fail('disk', found, 'Free some space: the store stops when the disk is full.');
    return free < COMFORTABLE_FREE_BYTES ? warn('disk', found, 'Free some space soon.') : ok('disk', found);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail('disk', `the state directory cannot be used: ${reason}`, 'Name another: --state-dir.');
  }
}

function locate(name: 'temporal' | 'store-server' | 'time-skipping-server', environment: Environment): string {
  switch (name) {
    case 'temporal':
      return temporalCli(environment);
    case 'store-server':
      return storeServer(environment);
    case 'time-skipping-server':
      return timeSkippingServer(environment);
  }
}
