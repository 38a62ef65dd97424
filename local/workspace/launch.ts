/**
 * Launches one workspace on this machine: namespaces of its own, no network but loopback, a root in which Temporal, Redis,
 * Coder and the stack's state do not exist, an unprivileged user, and the executor running in it. Its only way out is the
 * gateway's socket (DESIGN section 2).
 *
 * @example const workspace = await launchWorkspace({ name: 'forge-1', tenant: 'local', … }); await workspace.stop()
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, chown, mkdir, open, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../../activities/executor/run-directory.ts';
import { findOnPath, searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { relocated, type Toolchains } from '../../activities/executor/toolchains.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ExecutorSettings } from '../../workers/executor/settings.ts';
import { workspaceProgram, type WorkspaceProgram } from './program.ts';
import { GATEWAY_DIRECTORY, POLICY_DIRECTORY, specifyWorkspace, WORKSPACE_DIRECTORY } from './specification.ts';

export interface LaunchSettings {
  /** Host name inside; the workspace's name. */
  readonly name: string;
  readonly tenant: string;
  /** Of this workspace alone; made when it is missing, removed by `stop`. */
  readonly directory: string;
  /** The gateway's unix socket. Its directory is shown to the workspace, so nothing else may be in it. */
  readonly gatewaySocket: string;
  /** File with the single-use claim code of the executor; `null` when the directory holds its credential already. */
  readonly claimCodeFile: string | null;
  /** `null`: those behind the PATH. */
  readonly toolchains: Toolchains | null;
  /** Where the executor's messages go; `null` for nowhere. */
  readonly logFile: string | null;
  /** Name of a directory below `directory` that holds a producer's live tree; `null` where no producer works. */
  readonly worktree: string | null;
  /** The command policy's documents, when the gateway does not use those that come with the program. */
  readonly policyDirectory?: string;
  /** What runs inside; the executor when it is absent. Its argv gets the executor's settings file as a last argument. */
  readonly program?: WorkspaceProgram;
}

export interface RunningWorkspace {
  /** Its outermost process, on this machine. */
  readonly pid: number;
  /** Resolves when the last process is gone: 0 stopped, 7 its credential is refused, anything else a failure. */
  readonly exited: Promise<number>;
  /** Ends every process and removes the directory. */
  stop(): Promise<void>;
}

/** The user inside when this process is root: nobody's on this machine, above what distributions give to people and services. */
const WORKSPACE_UID = 61_440;
/** How long the set-up may take, and how long the end of the workspace after it was asked to end. */
const START_MS = 20_000;
const STOP_MS = 10_000;

/** @throws `workspace_start_failed` with the first thing that did not work */
export async function launchWorkspace(settings: LaunchSettings): Promise<RunningWorkspace> {
  const owner = ownerInside();
  const root = await makeDirectories(settings, owner);
  const toolchains = settings.toolchains ?? (await searchToolchains());
  const specification = await specifyWorkspace({
    name: settings.name,
    ...owner,
    directory: await realpath(settings.directory),
    root: await realpath(root),
    gatewaySocket: settings.gatewaySocket,
    toolchains,
    program: settings.program ?? (await workspaceProgram()),
    ...(settings.policyDirectory === undefined ? {} : { policyDirectory: settings.policyDirectory }),
    settingsFile: await writeSettings(settings, toolchains, owner),
  });
  const python = await findOnPath('python3', `/usr/bin:/usr/local/bin:${process.env['PATH'] ?? ''}`);
  if (python === null) throw portcullisError('workspace_start_failed', { reason: 'python3 is not installed' });
  const child = await spawnEntry(python, settings.logFile);
  const exited = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  // The workspace may be gone before it has read this; its exit says so.
  child.stdin?.on('error', () => {});
  child.stdin?.write(`${JSON.stringify(specification)}\n`);
  const stop = async (): Promise<void> => {
    await end(child, exited);
    await removeTree(settings.directory);
  };
  try {
    await entered(child, exited);
  } catch (error) {
    // What is wrong with the workspace is what has to be said, not that its directory is still there.
    await stop().catch(() => {});
    throw error;
  }
  return { pid: child.pid ?? 0, exited, stop };
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

function ownerInside(): Owner {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: WORKSPACE_UID, gid: WORKSPACE_UID } : { uid, gid: process.getgid?.() ?? uid };
}

/** The workspace's directories; the empty one that its root is mounted on. */
async function makeDirectories({ directory }: LaunchSettings, owner: Owner): Promise<string> {
  const root = join(directory, '.root');
  await mkdir(join(directory, 'private'), { recursive: true, mode: 0o700 });
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const path of [directory, join(directory, 'private')]) {
    await chmod(path, 0o700);
    await give(path, owner);
  }
  return root;
}

/** What the executor reads at its start, and the claim code; the path of the settings, as the workspace sees it. */
async function writeSettings(settings: LaunchSettings, toolchains: Toolchains, owner: Owner): Promise<string> {
  const inside = (name: string) => `${WORKSPACE_DIRECTORY}/private/${name}`;
  const executor: ExecutorSettings = {
    tenant: settings.tenant,
    gatewaySocket: `${GATEWAY_DIRECTORY}/${basename(settings.gatewaySocket)}`,
    privateDirectory: `${WORKSPACE_DIRECTORY}/private`,
    claimCodeFile: settings.claimCodeFile === null ? null : inside('claim-code'),
    policyDirectory: settings.policyDirectory === undefined ? null : POLICY_DIRECTORY,
    toolchains: relocated(toolchains),
    worktree: settings.worktree === null ? null : `${WORKSPACE_DIRECTORY}/${settings.worktree}`,
  };
  await writePrivate(join(settings.directory, 'private', 'settings.json'), JSON.stringify(executor), owner);
  if (settings.claimCodeFile !== null) {
    const code = await readFile(settings.claimCodeFile, 'utf8');
    await writePrivate(join(settings.directory, 'private', 'claim-code'), code, owner);
  }
  return inside('settings.json');
}

async function writePrivate(path: string, text: string, owner: Owner): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await give(path, owner);
}

async function give(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

/** Started from this thread and dies with it. Its environment is empty: nothing of ours may be found in a workspace. */
async function spawnEntry(python: string, logFile: string | null): Promise<ChildProcess> {
  const log = logFile === null ? null : await open(logFile, 'a', 0o600);
  try {
    const script = fileURLToPath(new URL('enter.py', import.meta.url));
    // -E -s -S: no variable and no site package of this machine; -B: no cache beside the modules.
    return spawn(python, ['-E', '-s', '-S', '-B', script], {
      stdio: ['pipe', 'ignore', log?.fd ?? 'ignore', 'pipe'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      cwd: '/',
      // A terminal's interrupt goes to its whole group. Whoever launched the workspace ends it in order; it dies with them anyway.
      detached: true,
    });
  } finally {
    await log?.close();
  }
}

/** Resolves once the workspace's first process has entered its namespaces. @throws `workspace_start_failed` */
async function entered(child: ChildProcess, exited: Promise<number>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const fail = (reason: string) => reject(portcullisError('workspace_start_failed', { reason }));
  const timer = setTimeout(() => fail('its set-up does not end'), START_MS);
  const status = child.stdio[3];
  let text = '';
  if (status instanceof Readable) {
    status.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-65_536);
      if (text.includes('"event": "entered"')) resolve(undefined);
      const failed = /\{"event": "failed", "reason": ("(?:[^"\\]|\\.)*")\}/.exec(text);
      if (failed !== null) fail(String(JSON.parse(failed[1] ?? '""')));
    });
  }
  void exited.then((code) => fail(`its first process ended with ${code}`));
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}

async function end(child: ChildProcess, exited: Promise<number>): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(timer);
}
