/**
 * The start of a workspace, in order: claim, way out, checkout, executor. Each step is a line of the agent's log, and the
 * first one that fails ends it.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '../../activities/executor/toolchain-search.ts';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import { startForwarder } from '../executor/forwarder.ts';
import { makeCheckout } from './checkout.ts';
import { startExecutorProcess, type ExecutorProcess } from './executor-process.ts';
import { writeGitSettings } from './git-settings.ts';
import { obtainAgentGrant, type AgentGrant } from './grant.ts';
import type { HarnessSettings } from './settings.ts';
import type { StartRecord } from './start-record.ts';
import { COMMAND_DIRECTORY, type TurnSurroundings } from './turn.ts';

export interface Started {
  readonly turns: TurnSurroundings;
  readonly executor: ExecutorProcess | null;
  close(): Promise<void>;
}

/**
 * The lifecycle goes to `ready` or `start_error`, and `record` says why. `null` when nothing was started: it failed, or its exit
 * code was given and nothing was to be tried.
 */
export async function startWorkspace(settings: HarnessSettings, record: StartRecord): Promise<Started | null> {
  record.lifecycle('starting');
  try {
    await delay(settings.start.delayMs);
    const { exitCode } = settings.start;
    if (exitCode !== null && exitCode !== 0) {
      throw portcullisError('workspace_start_failed', { reason: `the start script ended with exit code ${exitCode}` });
    }
    const started = exitCode === null ? await runSteps(settings, record) : null;
    record.lifecycle('ready');
    return started;
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    const cause = error.code === 'internal' && thrown instanceof Error ? ` (${thrown.message})` : '';
    record.log(`start failed: ${error.code}: ${error.message}${cause}`, 'error');
    record.lifecycle('start_error');
    return null;
  }
}

async function runSteps(settings: HarnessSettings, record: StartRecord): Promise<Started> {
  const log = (text: string) => record.log(text);
  await mkdir(settings.home, { recursive: true, mode: 0o700 });
  const forwarder = await startForwarder(settings.gatewaySocket);
  // Started first: it takes longest, and needs nothing of the rest.
  const executor =
    settings.executor === null ? null : startExecutorProcess(settings.executor.settingsFile, (line) => log(line));
  const close = async () => {
    executor?.close();
    await forwarder.close();
  };
  try {
    const sandbox = await findOnPath('bwrap', '/usr/local/bin:/usr/bin:/bin');
    if (sandbox === null) throw portcullisError('sandbox_unavailable', { reason: 'bwrap is not installed' });
    const grant = hasAgent(settings) ? await prepareAgent({ settings, sandbox }, forwarder.address, log) : null;
    if (executor !== null) await whenServing(executor);
    const turns = { settings, sandbox, gateway: `http://${forwarder.address}`, bearer: grant?.bearer ?? null };
    return { turns, executor, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A verifier has none: what runs there is the executor alone. */
function hasAgent({ role }: HarnessSettings): boolean {
  return role !== 'verifier';
}

async function prepareAgent(
  { settings, sandbox }: Pick<TurnSurroundings, 'settings' | 'sandbox'>,
  gateway: string,
  log: (text: string) => void,
): Promise<AgentGrant> {
  const grant = await obtainAgentGrant(settings);
  log(`claimed: ${grant.role} of ${grant.pair}, generation ${grant.workspaceGeneration}`);
  await writeGitSettings(settings.privateDirectory, grant, gateway);
  await writeCommands(settings);
  await makeCheckout({ settings, sandbox }, grant, log);
  return grant;
}

async function whenServing(executor: ExecutorProcess): Promise<void> {
  const refused = executor.refused.then(() => {
    throw portcullisError('not_allowed', { action: 'serve as an executor' });
  });
  await Promise.race([executor.serving, refused]);
}

/** `portcullis` for agents: the harness's own commands, on the PATH of every turn. */
async function writeCommands({ privateDirectory, gatewaySocket }: HarnessSettings): Promise<void> {
  const directory = join(privateDirectory, COMMAND_DIRECTORY);
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFile(join(privateDirectory, 'harness.json'), JSON.stringify({ gatewaySocket }), { mode: 0o600 });
  const suffix = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
  const program = fileURLToPath(import.meta.resolve(`./command${suffix}`));
  const script = join(directory, 'portcullis');
  await writeFile(script, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
  await chmod(script, 0o755);
}
