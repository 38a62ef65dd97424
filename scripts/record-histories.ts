/**
 * Plays the golden paths on a dev server of its own and writes their histories to `test/histories/`. Run by hand, when a
 * path is new or its commands changed on purpose: `npm run record-histories [-- NAME…]`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import protoUtils from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { startDevServer } from '../test/support/dev-server.ts';
import { GOLDEN_PATHS } from '../test/workflows/golden.ts';
import { CONTROL_PATHS, standIns, type ControlPath } from '../test/workflows/golden-control.ts';
import { GATE_PATHS, playGate } from '../test/workflows/golden-gate.ts';
import { play, type Theatre } from '../test/workflows/stage.ts';
import { activityFailures } from '../workers/activity-failures.ts';
import { bundleWorkflows } from '../workers/control/workflow-bundle.ts';

const TARGET = join(import.meta.dirname, '..', 'test', 'histories');
const chosen = process.argv.slice(2);
const wanted = (name: string) => chosen.length === 0 || chosen.includes(name);

Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF', forward: {} } } });
const server = await startDevServer();
const [native, connection, workflowBundle] = await Promise.all([
  NativeConnection.connect({ address: server.address }),
  Connection.connect({ address: server.address }),
  bundleWorkflows(),
]);
const theatre: Theatre = { client: new Client({ connection }), connection: native, workflowBundle };
try {
  for (const { name, script, meanwhile } of GOLDEN_PATHS.filter((path) => wanted(path.name))) {
    await play(theatre, name, script, async (staged) => {
      await meanwhile?.(staged);
      await record(`verify/${name}`, staged.handle);
    });
  }
  for (const path of GATE_PATHS.filter(({ name }) => wanted(name))) {
    await playGate(theatre, path, (handle) => record(`${path.workflow}/${path.name}`, handle));
  }
  for (const path of CONTROL_PATHS.filter(({ name }) => wanted(name))) await playControl(path);
} finally {
  await Promise.all([native.close(), connection.close()]);
  await server.close();
}

async function playControl(path: ControlPath): Promise<void> {
  const taskQueue = `golden-${path.workflow}-${path.name}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle,
    activities: { ...standIns(path) },
    interceptors: { activity: [activityFailures] },
  });
  await worker.runUntil(async () => {
    const options = { taskQueue, workflowId: taskQueue, args: [path.input] };
    await record(`${path.workflow}/${path.name}`, await theatre.client.workflow.start(path.workflow, options));
  });
}

async function record(name: string, handle: WorkflowHandle): Promise<void> {
  // Some of the paths end in a failure of the workflow on purpose: the history is what is wanted.
  await handle.result().catch(() => {});
  const history = await handle.fetchHistory();
  const recorded: unknown = JSON.parse(protoUtils.historyToJSON(history), withoutMachine);
  const file = join(TARGET, `${name}.json`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(recorded, null, 1)}\n`);
  console.error(`recorded ${name} (${history.events?.length ?? 0} events)`);
}

/** Drops what names the recording machine; a replay reads neither. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  if (key === 'identity') return 'recorder';
  // Sticky queues are named after process and host.
  if (typeof value === 'string' && /^\d+@/.test(value)) return 'recorder';
  return value;
}
