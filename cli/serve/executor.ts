/** `serve executor`: what a workspace's image starts when it has the whole package and not only the executor's entry. */
import { createLogger } from '../../workers/logging.ts';
import { readExecutorSettings } from '../../workers/executor/settings.ts';
import { startExecutor } from '../../workers/executor/start-executor.ts';
import { runPart } from './part.ts';

export async function serveExecutor(settingsFile: string, signal: AbortSignal): Promise<number> {
  const logger = createLogger({ part: 'executor', level: 'info' });
  const executor = await startExecutor(await readExecutorSettings(settingsFile));
  logger.info({ bootId: executor.bootId }, 'serving');
  return runPart(executor, logger, signal);
}
