/**
 * Plays the golden paths on a dev server of its own and writes their histories to `test/histories/`. Run by hand, when a
 * path is new or its commands changed on purpose: `npm run record-histories [-- NAME…]`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import protoUtils from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { startDevServer } from '../test/support/dev-server.ts';
import { GOLDEN_PATHS } from '../test/workflows/golden.ts';
import { play } from '../test/workflows/stage.ts';
import { bundleWorkflows } from '../workers/control/workflow-bundle.ts';

const TARGET = join(import.meta.dirname, '..', 'test', 'histories', 'verify');
const chosen = process.argv.slice(2);

/** Drops what names the recording machine; a replay reads neither. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  if (key === 'identity') return 'recorder';
  return value;
}

Runtime.install({ logger: new DefaultLogger('WARN') });
const server = await startDevServer();
const [native, connection, workflowBundle] = await Promise.all([
  NativeConnection.connect({ address: server.address }),
  Connection.connect({ address: server.address }),
  bundleWorkflows(),
]);
try {
  await mkdir(TARGET, { recursive: true });
  const theatre = { client: new Client({ connection }), connection: native, workflowBundle };
  for (const { name, script, meanwhile } of GOLDEN_PATHS) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const history = await play(theatre, name, script, async (staged) => {
      await meanwhile?.(staged);
      // Some of the paths end in a failure of the workflow on purpose: the history is what is wanted.
      await staged.handle.result().catch(() => {});
      return await staged.handle.fetchHistory();
    });
    const recorded: unknown = JSON.parse(protoUtils.historyToJSON(history), withoutMachine);
    await writeFile(join(TARGET, `${name}.json`), `${JSON.stringify(recorded, null, 1)}\n`);
    console.error(`recorded verify/${name} (${history.events?.length ?? 0} events)`);
  }
} finally {
  await Promise.all([native.close(), connection.close()]);
  await server.close();
}
