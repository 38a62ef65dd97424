/**
 * The harness as a process: `node workers/agent/main.ts SETTINGS_FILE`, with a listening socket as descriptor 3.
 *
 * Exit codes: 0 stopped; 7 a credential is refused, so starting again is no use. A start that failed stays, so that its log
 * can be read.
 */
import { serveChannel } from './channel.ts';
import { readHarnessSettings } from './settings.ts';
import { startWorkspace, type Started } from './start.ts';
import { StartRecord } from './start-record.ts';

const CHANNEL = 3;
const REFUSED = 7;

const record = new StartRecord();
let started: Started | null = null;
const channel = serveChannel({ fd: CHANNEL }, record, () => started?.turns ?? null);
const settings = await readHarnessSettings(process.argv[2] ?? '');
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void leave(0));
started = await startWorkspace(settings, record);
void started?.executor?.refused.then(() => leave(REFUSED));

async function leave(code: number): Promise<void> {
  record.lifecycle(code === 0 ? 'shutting_down' : 'off');
  await started?.close();
  channel.close();
  process.exit(code);
}
