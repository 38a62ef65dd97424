/** `serve egress`. */
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { logLevel } from '../../local/supervisor/options.ts';
import { resolveUpstreams } from '../../workers/egress/machine.ts';
import { readModelHosts, type ModelHosts } from '../../workers/egress/model-hosts.ts';
import { startEgress } from '../../workers/egress/start-egress.ts';
import { createLogger } from '../../workers/logging.ts';
import type { CliContext } from '../context.ts';
import { keyFile } from './files.ts';
import { runPart } from './part.ts';

export async function serveEgress(context: CliContext): Promise<number> {
  const { settings, signal, environment } = context;
  const logger = createLogger({ part: 'egress', level: logLevel(settings) });
  const upstreams = await resolveUpstreams(environment);
  const modelsFile = settings.get('egress.models');
  const models: ModelHosts = modelsFile === null ? new Map() : await readModelHosts(modelsFile);
  const egress = await startEgress({
    host: settings.text('egress.host'),
    port: settings.number('egress.port'),
    key: readSecret(keyFile(context, KEY_FILES.egress)),
    upstreams,
    models,
    logger,
  });
  // Where they are, and never with what.
  const registries = Object.fromEntries(Object.entries(upstreams).map(([name, { base }]) => [name, base.host]));
  const hosts = Object.fromEntries([...models.values()].map(({ name, base }) => [name, base.host]));
  logger.info({ port: egress.port, registries, models: hosts }, 'serving');
  return runPart(egress, logger, signal);
}
