/**
 * Launches one workspace on this machine: namespaces of its own, no network but loopback, a root in which Temporal, Redis,
 * Coder and the stack's state do not exist, an unprivileged user, and the executor running in it. Its only way out is the
 * gateway's socket (DESIGN section 2).
 *
 * @example const workspace = await launchWorkspace({ name: 'forge-1', tenant: 'local', … }); await workspace.stop()
 */
import type { ChildProcess } from 'node:child_process';
import { chmod, mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { copyTree, TreeCopyRefused } from '../../activities/executor/copy-tree.ts';
import { removeTree } from '../../activities/executor/run-directory.ts';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { relocated, type Toolchains } from '../../activities/executor/toolchains.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ExecutorSettings } from '../../workers/executor/settings.ts';
import { entered, spawnEntry } from './entry.ts';
import { give, ownerInside, writePrivate, type Owner } from './owner.ts';
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
  /**
   * A checkout of this machine that the workspace gets a copy of as its live tree, made by reading only; `except` are directories
   * that stay out of it.
   */
  readonly liveTree?: { readonly from: string; readonly except: readonly string[] };
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

/** Where a workspace that got a copy of a live tree has it, below its directory. */
const LIVE_TREE = 'tree';
/** How long the end of the workspace may take after it was asked to end. */
const STOP_MS = 10_000;

/** @throws `workspace_start_failed` with the first thing that did not work, `repository_invalid` for a live tree that is too large */
export async function launchWorkspace(settings: LaunchSettings): Promise<RunningWorkspace> {
  const owner = ownerInside();
  const root = await makeDirectories(settings, owner);
  const worktree = settings.liveTree === undefined ? settings.worktree : LIVE_TREE;
  if (settings.liveTree !== undefined)
    await takeLiveTree(settings.liveTree, join(settings.directory, LIVE_TREE), owner);
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
    settingsFile: await writeSettings({ ...settings, worktree }, toolchains, owner),
  });
  const child = await spawnEntry(settings.logFile);
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

type LiveTree = NonNullable<LaunchSettings['liveTree']>;

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

async function takeLiveTree({ from, except }: LiveTree, to: string, owner: Owner): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await give(to, owner);
  try {
    await copyTree({ from, to, except, ...(process.getuid?.() === 0 ? { owner } : {}) });
  } catch (error) {
    if (!(error instanceof TreeCopyRefused)) throw error;
    throw portcullisError('repository_invalid', { path: from, reason: error.message }, error);
  }
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

async function end(child: ChildProcess, exited: Promise<number>): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(timer);
}
