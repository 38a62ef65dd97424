/**
 * The bubblewrap sandbox as arguments (spec/delegated-verification.md section 7): own user, pid, ipc, uts and network
 * namespaces, no capability, a read-only system, a private copy at `/work`, sized tmpfs, dies with its parent.
 */
import { lstat, readlink } from 'node:fs/promises';
import type { CommandLimits } from '../../schemas/verify/action.ts';
import { TOOL_DIRECTORY, type ToolchainMount } from './toolchains.ts';

/** Where the copy under test and the reporters' files are, inside. */
export const SANDBOX_WORK = '/work';
export const SANDBOX_REPORT = '/report';
const REPORTER = '/opt/portcullis/node-test-reporter.mjs';

/** A directory or file of this machine, shown at a place inside. */
export interface SandboxBind {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

export interface SandboxLayout {
  /** Private writable copy of the tree. */
  readonly work: string;
  /** Empty directory for reporters' files. */
  readonly report: string;
  /** Directory with `passwd`, `group`, `hosts` and `nsswitch.conf` of our own. */
  readonly etc: string;
  readonly toolDirectory: string;
  readonly toolchains: readonly ToolchainMount[];
  /** The reporter module for `node --test`. */
  readonly reporter: string;
  readonly system: SystemLayout;
  /** `/work` unless said otherwise. */
  readonly chdir?: string;
  /** Laid over all of the above. */
  readonly binds?: readonly SandboxBind[];
}

/** How this machine's root is laid out: merged into /usr, or with directories of its own. */
export interface SystemLayout {
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly directories: readonly string[];
}

export async function readSystemLayout(): Promise<SystemLayout> {
  const links: { path: string; target: string }[] = [];
  const directories: string[] = [];
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    try {
      if ((await lstat(path)).isSymbolicLink()) links.push({ path, target: await readlink(path) });
      else directories.push(path);
    } catch {
      // Not every machine has each of them.
    }
  }
  return { links, directories };
}

/** What the system needs of /etc to run programs; nothing that names users, hosts or credentials of this machine. */
const SYSTEM_ETC = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/localtime',
] as const;
const OWN_ETC = ['passwd', 'group', 'hosts', 'nsswitch.conf'] as const;

/** bwrap's options. They go through a file descriptor: the command line of the sandbox's first process shows them otherwise. */
export function sandboxOptions(
  layout: SandboxLayout,
  limits: CommandLimits,
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  const tmp = String(limits.tmpBytes);
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
    ...['--uid', '1000', '--gid', '1000', '--disable-userns', '--cap-drop', 'ALL'],
    ...['--die-with-parent', '--new-session', '--clearenv', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr'],
    ...layout.system.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...layout.system.directories.flatMap((path) => ['--ro-bind', path, path]),
    ...['--dir', '/etc'],
    ...SYSTEM_ETC.flatMap((path) => ['--ro-bind-try', path, path]),
    ...OWN_ETC.flatMap((name) => ['--ro-bind', `${layout.etc}/${name}`, `/etc/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', tmp, '--tmpfs', '/tmp', '--size', tmp, '--tmpfs', '/dev/shm'],
    ...['--dir', '/home', '--size', tmp, '--tmpfs', '/home/run'],
    ...layout.toolchains.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...['--ro-bind', layout.toolDirectory, TOOL_DIRECTORY],
    ...['--ro-bind', layout.reporter, REPORTER],
    ...[
      '--bind',
      layout.report,
      SANDBOX_REPORT,
      '--bind',
      layout.work,
      SANDBOX_WORK,
      '--chdir',
      layout.chdir ?? SANDBOX_WORK,
    ],
    ...(layout.binds ?? []).flatMap(({ source, target, writable }) => [
      writable ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    // Not of the mounts below them: scratch space and the terminals stay writable.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
  ];
}

/** The command behind its process limits. `prlimit` runs inside, so that the limit on processes counts the sandbox's only. */
export function limitedCommand(limits: CommandLimits, prlimit: string, command: readonly string[]): readonly string[] {
  const both = (value: number) => `${value}:${value}`;
  return [
    prlimit,
    `--nproc=${both(limits.processes)}`,
    `--data=${both(limits.dataBytes)}`,
    `--fsize=${both(limits.fileBytes)}`,
    `--nofile=${both(limits.openFiles)}`,
    '--core=0:0',
    '--',
    ...command,
  ];
}
