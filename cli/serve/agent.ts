/**
 * `serve agent`: what a workspace's template starts for a role with an agent. Beside its private files it leaves `channel.sock`, where
 * turns are asked for, and `ready`, which is there exactly when the start succeeded.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { serveChannel } from '../../workers/agent/channel.ts';
import { readHarnessSettings } from '../../workers/agent/settings.ts';
import { StartRecord } from '../../workers/agent/start-record.ts';
import { startWorkspace, type Started } from '../../workers/agent/start.ts';
import { createLogger } from '../../workers/logging.ts';
import { runPart } from './part.ts';

/** @throws `setting_invalid`, `workspace_start_failed`, `not_allowed` once the executor's credential is refused */
export async function serveAgent(settingsFile: string, signal: AbortSignal): Promise<number> {
  const logger = createLogger({ part: 'agent', level: 'info' });
  const settings = await readHarnessSettings(settingsFile);
  const socket = join(settings.privateDirectory, 'channel.sock');
  const mark = join(settings.privateDirectory, 'ready');
  await Promise.all([socket, mark].map((file) => rm(file, { force: true })));
  const record = new StartRecord();
  let trouble = 'nothing was to be started';
  record.watch((event) => {
    if (event.event !== 'log') return;
    if (event.level === 'error') trouble = event.text.replace(/^start failed: |\.$/g, '');
    logger[event.level](event.text);
  });
  let started: Started | null = null;
  const channel = serveChannel({ path: socket }, record, () => started?.turns ?? null);
  try {
    started = await startWorkspace(settings, record);
    if (started === null) throw portcullisError('workspace_start_failed', { reason: trouble });
    await writeFile(mark, '', { mode: 0o600 });
    logger.info({ role: settings.role }, 'serving');
    const running = started;
    const refused = running.executor?.refused.then(() => {
      throw portcullisError('not_allowed', { action: 'serve as an executor' });
    });
    const part = { close: () => running.close(), ...(refused === undefined ? {} : { ended: refused }) };
    return await runPart(part, logger, signal);
  } finally {
    channel.close();
    await rm(mark, { force: true });
  }
}
