/** What containment this machine offers, found out at start by doing it once, and said in every report. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { portcullisError } from '../../schemas/errors.ts';
import { findDelegation, type CgroupDelegation } from './cgroup.ts';
import { readSystemLayout, type SystemLayout } from './sandbox.ts';
import { findOnPath } from './toolchain-search.ts';

const run = promisify(execFile);

export interface SandboxProbe {
  readonly bwrap: string;
  readonly version: string;
  readonly prlimit: string;
  readonly mkfifo: string;
  readonly find: string;
  readonly git: string;
  readonly system: SystemLayout;
  /** False for root, whom RLIMIT_NPROC does not hold: then the report does not name that limit. */
  readonly limitsProcesses: boolean;
  /** Where a run gets a limit on its memory as a whole; `null` when no cgroup is delegated, so that only each process has one. */
  readonly cgroup: CgroupDelegation | null;
}

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** @throws `sandbox_unavailable` with the first thing that is missing; `binary_missing` for git. */
export async function probeSandbox(): Promise<SandboxProbe> {
  const bwrap = await needed('bwrap', 'bubblewrap is not installed');
  const prlimit = await needed('prlimit', 'prlimit (util-linux) is not installed');
  const mkfifo = await needed('mkfifo', 'mkfifo (coreutils) is not installed');
  const find = await needed('find', 'find (findutils) is not installed');
  const git = await findOnPath('git', SYSTEM_PATH);
  if (git === null) throw portcullisError('binary_missing', { program: 'git', how: 'Install git.' });
  const { stdout } = await run(bwrap, ['--version']);
  const system = await readSystemLayout();
  await tryOnce(bwrap, system);
  return {
    bwrap,
    version: stdout.trim().replace(/^bubblewrap /, ''),
    prlimit,
    mkfifo,
    find,
    git,
    system,
    limitsProcesses: process.getuid?.() !== 0,
    cgroup: await findDelegation(),
  };
}

/** Makes one sandbox of the kind that commands get. Whether namespaces are allowed can only be told by asking for them. */
async function tryOnce(bwrap: string, system: SystemLayout): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'portcullis-probe-'));
  const options = [
    ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns'],
    ...['--die-with-parent', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', '--proc', '/proc', '--dev', '/dev', '--bind', work, '/work'],
    ...system.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...system.directories.flatMap((path) => ['--ro-bind', path, path]),
  ];
  try {
    await run(bwrap, [...options, '--', '/usr/bin/env', 'true'], { timeout: 10_000 });
  } catch (error) {
    const said = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr).trim() : '';
    throw portcullisError('sandbox_unavailable', { reason: said === '' ? 'a trial sandbox failed' : said }, error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function needed(program: string, reason: string): Promise<string> {
  const found = await findOnPath(program, SYSTEM_PATH);
  if (found === null) throw portcullisError('sandbox_unavailable', { reason });
  return found;
}
