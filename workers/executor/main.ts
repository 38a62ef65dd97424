/**
 * The executor as a process: `node workers/executor/main.ts SETTINGS_FILE`.
 *
 * Exit codes: 0 stopped; 7 the credential is refused, so starting again is no use; any other, start it again.
 */
import { asPortcullisError } from '../../schemas/errors.ts';
import { readExecutorSettings } from './settings.ts';
import { startExecutor } from './start-executor.ts';

/** The SDK may hold the process open after a refused connection; nothing is left to be done by then. */
const LEAVE_MS = 3_000;

async function main(file: string): Promise<void> {
  const executor = await startExecutor(await readExecutorSettings(file));
  process.stderr.write(`executor: serving, boot ${executor.bootId}; ${executor.containment}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void executor.close());
  await executor.ended;
}

try {
  await main(process.argv[2] ?? '');
} catch (error) {
  const { code, message, edge, cause } = asPortcullisError(error);
  const [because] = cause instanceof Error ? cause.message.split('\n') : [];
  process.stderr.write(`executor: ${code}: ${message}${because === undefined ? '' : ` (${because})`}\n`);
  process.exitCode = edge.exit;
}
setTimeout(() => process.exit(), LEAVE_MS).unref();
