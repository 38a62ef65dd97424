/** `serve control` and `serve gate`: a worker with its health beside it. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { cachedWorkflowBundle } from '../../local/bundle-cache.ts';
import { KEY_FILES } from '../../local/keys.ts';
import { logLevel } from '../../local/supervisor/options.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { startControlWorker } from '../../workers/control/main.ts';
import { startGateWorker } from '../../workers/gate/main.ts';
import { startHealthServer } from '../../workers/health.ts';
import { createLogger } from '../../workers/logging.ts';
import { neededSetting, type CliContext } from '../context.ts';
import { workspaceSettings } from './coder.ts';
import { awaitServers, keyFile, storeAccess } from './files.ts';
import { runPart, type RunningPart } from './part.ts';

interface RunningWorker extends RunningPart {
  isReady(): boolean;
}

export async function serveControl(context: CliContext): Promise<number> {
  const { settings } = context;
  const [workflowBundle] = await Promise.all([
    cachedWorkflowBundle(context.paths.cache),
    awaitServers(context, 'control'),
  ]);
  return serveWorker(context, 'control', () =>
    startControlWorker({
      workflowBundle,
      tenants: [settings.text('tenant')],
      temporalAddress: neededSetting(context, 'temporal.address'),
      namespace: settings.text('temporal.namespace'),
      store: storeAccess(context, 'control'),
      actionKeyFile: keyFile(context, KEY_FILES.action),
      repositoriesDir: neededSetting(context, 'repositories.dir'),
      incomingDir: neededSetting(context, 'incoming.dir'),
      commandPolicyDir: neededSetting(context, 'policies.dir'),
      reuseWindowSecs: settings.number('verify.reuse-secs'),
      reconcileSecs: settings.number('reconcile.secs'),
      gitRemotes: {
        allowed: settings.get('git.remotes')?.split(',') ?? [],
        credentialsFile: settings.get('git.credentials'),
        sshConfigFile: settings.get('git.ssh-config'),
      },
      ...workspaceSettings(context),
    }),
  );
}

export async function serveGate(context: CliContext): Promise<number> {
  const { settings } = context;
  await awaitServers(context, 'gate');
  return serveWorker(context, 'gate', () =>
    startGateWorker({
      tenants: [settings.text('tenant')],
      temporalAddress: neededSetting(context, 'temporal.address'),
      namespace: settings.text('temporal.namespace'),
      store: storeAccess(context, 'gate'),
      gateKeyFile: keyFile(context, KEY_FILES.gate),
    }),
  );
}

async function serveWorker(context: CliContext, part: string, start: () => Promise<RunningWorker>): Promise<number> {
  const { settings, signal } = context;
  const logger = createLogger({ part, level: logLevel(settings) });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const worker = await start();
  const health = await startHealthServer({
    host: settings.text('health.host'),
    port: settings.number('health.port'),
    registry,
    checks: {
      worker: () =>
        worker.isReady()
          ? Promise.resolve()
          : Promise.reject(portcullisError('store_unavailable', { reason: 'not ready' })),
    },
  });
  logger.info({ port: health.port }, 'serving');
  try {
    return await runPart(worker, logger, signal);
  } finally {
    await health.close();
  }
}
