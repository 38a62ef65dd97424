/** Makes a workspace real: its directory with what its harness and executor are told, and its first process. */
import { chmod, lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { removeTree } from '../../../activities/executor/run-directory.ts';
import { searchToolchains } from '../../../activities/executor/toolchain-search.ts';
import { relocated, type Toolchains } from '../../../activities/executor/toolchains.ts';
import { portcullisError } from '../../../schemas/errors.ts';
import { isExecutorRole } from '../../../schemas/names.ts';
import { TEMPLATE_PARAMETERS } from '../../../schemas/workspace/parameters.ts';
import { isWorkspaceRole, type WorkspaceRole } from '../../../schemas/workspace/workflow.ts';
import type { HarnessSettings } from '../../../workers/agent/settings.ts';
import type { ExecutorSettings } from '../../../workers/executor/settings.ts';
import { entered, spawnEntry } from '../../workspace/entry.ts';
import { give, ownerInside, writePrivate, type Owner } from '../../workspace/owner.ts';
import { workspaceProgram, type WorkspaceProgram } from '../../workspace/program.ts';
import {
  GATEWAY_DIRECTORY,
  POLICY_DIRECTORY,
  specifyWorkspace,
  WORKSPACE_DIRECTORY,
} from '../../workspace/specification.ts';
import type { RuntimeStart } from '../runtime.ts';
import type { Place } from './place.ts';
import type { RuntimeSettings } from './settings.ts';

/** Directories of a workspace, below its own. */
const AGENT = 'agent';
const EXECUTOR = 'executor';
const HOME = 'home';
const CHECKOUT = 'checkout';
/** Where the root is mounted, and nothing else. */
const ROOT = '.root';

/** The role of a workspace by its parameters; `null` when its template is none of ours. */
export function roleOf({ parameters }: Pick<RuntimeStart, 'parameters'>): WorkspaceRole | null {
  const role = parameters[TEMPLATE_PARAMETERS.role] ?? '';
  return isWorkspaceRole(role) ? role : null;
}

/** Resolves when the first process has entered its namespaces. @throws `workspace_start_failed`, `setting_invalid` */
export async function launchCompute(settings: RuntimeSettings, place: Place, start: RuntimeStart): Promise<void> {
  const owner = ownerInside();
  await makeDirectories(place, owner);
  const role = roleOf(start);
  const toolchains = await toolchainsOnce();
  const program = role === null || start.agent.connects === 'never' ? await waiting() : await harness(settings, role);
  if (role !== null) await writeSettings(settings, place, start, role, toolchains, owner);
  const specification = {
    ...(await specifyWorkspace({
      name: start.name,
      ...owner,
      directory: await realpath(place.workspace),
      root: await realpath(join(place.workspace, ROOT)),
      gatewaySocket: settings.gatewaySocket,
      toolchains,
      program,
      ...(settings.policyDirectory === undefined ? {} : { policyDirectory: settings.policyDirectory }),
      ...(settings.bounds === undefined ? {} : { bounds: settings.bounds }),
      settingsFile: inside(AGENT, 'settings.json'),
    })),
    outlives: true as const,
    record: place.pids,
    channel: place.channel,
  };
  const child = await spawnEntry(settings.logFile, [`--run=${start.run}`, `--workspace=${start.workspaceId}`]);
  const exited = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(`${JSON.stringify(specification)}\n`);
  await entered(child, exited);
  // Nothing of it keeps this process here: it lives on by itself.
  child.unref();
  child.stdio[3]?.destroy();
}

/** The machine's toolchains do not change while this process runs, and looking for them takes a while. */
let toolchainSearch: Promise<Toolchains> | null = null;
function toolchainsOnce(): Promise<Toolchains> {
  toolchainSearch ??= searchToolchains();
  return toolchainSearch;
}

/** Where the scripted agent's code is; the program that runs it, as the workspace sees it. */
const SCRIPTED = 'local/coder/runtime/scripted';

export async function scriptedArgv(): Promise<readonly string[]> {
  return (await workspaceProgram(`${SCRIPTED}/main`, [SCRIPTED])).argv;
}

async function harness({ agents }: RuntimeSettings, role: WorkspaceRole): Promise<WorkspaceProgram> {
  const { binds, argv } = await workspaceProgram('workers/agent/main', [SCRIPTED]);
  const agent = role === 'verifier' ? 'scripted' : agents[role];
  return { argv, binds: [...binds, ...(agent === 'scripted' ? [] : agent.mounts)] };
}

/** A first process that only waits: compute without an agent. Its last argument is the settings file; `sh` takes it as `$0`. */
async function waiting(): Promise<WorkspaceProgram> {
  const { binds } = await workspaceProgram();
  return { binds, argv: ['/bin/sh', '-c', 'while :; do sleep 3600; done'] };
}

function inside(...names: readonly string[]): string {
  return [WORKSPACE_DIRECTORY, ...names].join('/');
}

/**
 * The home and the checkout of an earlier build stay. What it was authenticated with goes: a rebuilt workspace has a new agent,
 * and its old one's secrets are dead. Whoever lived there could put anything in the place of a directory, so what is not one is
 * not followed (invariant 17); nobody lives there now.
 */
async function makeDirectories(place: Place, owner: Owner): Promise<void> {
  await rm(place.pids, { force: true });
  await rm(place.channel, { force: true });
  await mkdir(dirname(place.channel), { recursive: true, mode: 0o700 });
  await makeDirectory(place.workspace, owner);
  for (const name of [AGENT, EXECUTOR, ROOT]) await removeTree(join(place.workspace, name));
  for (const name of [AGENT, EXECUTOR, HOME]) await makeDirectory(join(place.workspace, name), owner);
  await mkdir(join(place.workspace, ROOT), { mode: 0o700 });
}

async function makeDirectory(path: string, owner: Owner): Promise<void> {
  const there = await lstat(path).catch(() => null);
  if (there?.isDirectory() !== true) {
    await rm(path, { force: true });
    await mkdir(path, { mode: 0o700 });
  }
  await chmod(path, 0o700);
  await give(path, owner);
}

async function writeSettings(
  settings: RuntimeSettings,
  place: Place,
  start: RuntimeStart,
  role: WorkspaceRole,
  toolchains: Toolchains,
  owner: Owner,
): Promise<void> {
  const given = (name: keyof typeof TEMPLATE_PARAMETERS) => start.parameters[TEMPLATE_PARAMETERS[name]] ?? '';
  const gatewaySocket = `${GATEWAY_DIRECTORY}/${basename(settings.gatewaySocket)}`;
  const keep = (directory: string, name: string, text: string) =>
    writePrivate(join(place.workspace, directory, name), text, owner);
  const claim = async (directory: string, code: string) => {
    if (code === '') return null;
    await keep(directory, 'claim-code', code);
    return inside(directory, 'claim-code');
  };
  const executes = isExecutorRole(role);
  const harnessSettings: HarnessSettings = {
    tenant: given('tenant'),
    role,
    gatewaySocket,
    privateDirectory: inside(AGENT),
    home: inside(HOME),
    claimCodeFile: await claim(AGENT, given('agentClaim')),
    checkout:
      role === 'verifier'
        ? null
        : { directory: inside(CHECKOUT), head: given('head'), branch: given('branch') === '' ? null : given('branch') },
    executor: executes ? { settingsFile: inside(EXECUTOR, 'settings.json'), privateDirectory: inside(EXECUTOR) } : null,
    start: { delayMs: start.agent.startDelayMs, exitCode: start.agent.startExit },
  };
  await keep(AGENT, 'settings.json', JSON.stringify(harnessSettings));
  if (!executes) return;
  const executorSettings: ExecutorSettings = {
    tenant: given('tenant'),
    gatewaySocket,
    privateDirectory: inside(EXECUTOR),
    claimCodeFile: await claim(EXECUTOR, given('executorClaim')),
    policyDirectory: settings.policyDirectory === undefined ? null : POLICY_DIRECTORY,
    toolchains: relocated(toolchains),
    worktree: role === 'forge' ? inside(CHECKOUT) : null,
  };
  await keep(EXECUTOR, 'settings.json', JSON.stringify(executorSettings));
}

/** @throws `setting_invalid` when the parameters of one of our templates cannot be right */
export function checkParameters(start: RuntimeStart): void {
  if (roleOf(start) === null) return;
  for (const name of [TEMPLATE_PARAMETERS.tenant, TEMPLATE_PARAMETERS.head]) {
    if ((start.parameters[name] ?? '') === '') throw portcullisError('setting_invalid', { name, reason: 'is empty' });
  }
}
