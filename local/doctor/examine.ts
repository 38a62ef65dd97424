/** All checks of `portcullis doctor`. Works with and without a running stack; what cannot be told then says so. */
import { join } from 'node:path';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import type { Settings } from '../../schemas/settings.ts';
import { KEY_FILES, readSecret } from '../keys.ts';
import { lockHolder } from '../lock.ts';
import { stackStatus } from '../status.ts';
import { readState, type LocalState, type StatePaths } from '../state.ts';
import { localStoreUrl } from '../store.ts';
import { fail, ok, skip, type Check } from './check.ts';
import { checkCoder } from './coder.ts';
import { coderAccess, coderTemplates } from './coder-access.ts';
import { checkOpenToLocalUsers } from './loopback.ts';
import { checkDisk, checkGit, checkNode, checkPackages, checkProgram, checkPython, checkSandbox } from './machine.ts';
import { checkModels } from './models.ts';
import { checkClock, checkGateway, checkStore, checkTemporal } from './servers.ts';

export interface ExamineOptions {
  readonly settings: Settings;
  readonly paths: StatePaths;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function examine({ settings, paths, environment }: ExamineOptions): Promise<readonly Check[]> {
  const running = lockHolder(paths.lock) === null ? null : readState(paths);
  const external = { temporal: settings.get('temporal.address'), store: settings.get('store.url') };
  const [sandbox, disk, store, temporal, gateway, coder, models] = await Promise.all([
    checkSandbox(),
    checkDisk(paths.root),
    storeChecks(settings, paths, running),
    temporalChecks(settings, running),
    gatewayChecks(settings, running),
    coderChecks(settings, paths, running),
    modelChecks(settings),
  ]);
  return [
    checkNode(),
    checkPackages(),
    checkGit(environment),
    checkPython(environment),
    checkProgram('temporal', environment, external.temporal !== null),
    checkProgram('store-server', environment, external.store !== null),
    checkProgram('time-skipping-server', environment, false),
    sandbox,
    disk,
    stackCheck(paths, running),
    checkOpenToLocalUsers(running, external.temporal !== null),
    ...store,
    ...temporal,
    ...gateway,
    ...coder,
    models,
  ];
}

function stackCheck(paths: StatePaths, running: LocalState | null): Check {
  if (running === null) return skip('local stack', 'does not run; start it with portcullis up, then doctor sees more');
  const bad = stackStatus(paths).parts.filter(({ state }) => state !== 'ready' && state !== 'external');
  if (bad.length === 0) return ok('local stack', `every part serves, state in ${paths.root}`);
  const named = bad.map(({ part, state }) => `${part} is ${state}`).join(', ');
  return fail('local stack', named, `See ${paths.logs}.`);
}

async function storeChecks(
  settings: Settings,
  paths: StatePaths,
  running: LocalState | null,
): Promise<readonly Check[]> {
  const url = settings.get('store.url') ?? (running === null ? null : localStoreUrl(running.ports.store));
  if (url === null) return [skip('store', 'none is named and none runs')];
  const file = join(settings.get('keys.dir') ?? paths.keys, KEY_FILES.storePassword('control'));
  try {
    const access = { url, user: 'control', password: readSecret(file) } as const;
    const [safety, clock] = await Promise.all([checkStore(access), checkClock(access)]);
    return [...safety, clock];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail('store', reason, 'portcullis up makes the keys and sets the users up.')];
  }
}

async function temporalChecks(settings: Settings, running: LocalState | null): Promise<readonly Check[]> {
  const address = settings.get('temporal.address') ?? (running === null ? null : `127.0.0.1:${running.ports.temporal}`);
  if (address === null) return [skip('temporal server', 'none is named and none runs')];
  return checkTemporal(address, settings.text('temporal.namespace'));
}

async function gatewayChecks(settings: Settings, running: LocalState | null): Promise<readonly Check[]> {
  const url = settings.get('gateway.url') ?? (running === null ? null : `http://127.0.0.1:${running.ports.gateway}`);
  return url === null ? [skip('gateway', 'none is named and none runs')] : [await checkGateway(url)];
}

async function modelChecks(settings: Settings): Promise<Check> {
  const { registry } = await loadWorkspaceRegistry();
  const scripted = settings.get('coder.agent-file') === null && settings.text('coder.agent') === 'scripted';
  return checkModels(settings.get('egress.models'), registry, scripted);
}

async function coderChecks(
  settings: Settings,
  paths: StatePaths,
  running: LocalState | null,
): Promise<readonly Check[]> {
  try {
    const access = coderAccess(settings, paths, running);
    if (access === null) return [skip('coder', 'none is named and none runs')];
    return await checkCoder({ ...access, templates: await coderTemplates() });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail('coder', reason, 'See docs/how-to/prepare-coder.md.')];
  }
}
