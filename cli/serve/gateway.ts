/** `serve gateway`. */
import { startGateway } from '../../gateway/main.ts';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { logLevel } from '../../local/supervisor/options.ts';
import { createLogger } from '../../workers/logging.ts';
import { neededSetting, type CliContext } from '../context.ts';
import { awaitServers, keyFile, storePassword } from './files.ts';
import { runPart } from './part.ts';

export async function serveGateway(context: CliContext): Promise<number> {
  const { settings, signal } = context;
  const logger = createLogger({ part: 'gateway', level: logLevel(settings) });
  await awaitServers(context, 'gateway');
  const egressUrl = settings.get('egress.url');
  const gateway = await startGateway({
    tenants: [settings.text('tenant')],
    host: settings.text('gateway.host'),
    port: settings.number('gateway.port'),
    socketPath: neededSetting(context, 'gateway.socket'),
    temporalAddress: neededSetting(context, 'temporal.address'),
    namespace: settings.text('temporal.namespace'),
    store: {
      url: neededSetting(context, 'store.url'),
      gatewayPassword: storePassword(context, 'gateway'),
      readerPassword: storePassword(context, 'reader'),
    },
    gatewayKeyFile: keyFile(context, KEY_FILES.gateway),
    actionPublicKeyFile: keyFile(context, KEY_FILES.actionPublic),
    repositoriesDir: neededSetting(context, 'repositories.dir'),
    incomingDir: neededSetting(context, 'incoming.dir'),
    commandPolicyDir: neededSetting(context, 'policies.dir'),
    egress:
      egressUrl === null ? null : { url: new URL(egressUrl), key: readSecret(keyFile(context, KEY_FILES.egress)) },
    routingPolicyDir: neededSetting(context, 'routing.dir'),
    limits: { bundleBytes: settings.number('import.max-mb') * 1024 * 1024 },
    logger,
  });
  return runPart(gateway, logger, signal);
}
