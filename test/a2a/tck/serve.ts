/**
 * Serves the test-only mount until it is told to stop, and prints where.
 *
 * @example PORTCULLIS_A2A_TCK=1 node test/a2a/tck/serve.ts 9999
 */
import { startTckMount } from './mount.ts';

const mount = await startTckMount(process.env, Number(process.argv[2] ?? 0));
process.stdout.write(`${mount.url}\n`);
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => void mount.close());
}
