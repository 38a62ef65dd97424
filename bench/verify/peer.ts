/** Runs the bare workflow's two workers in this process, on the same Temporal server as the stack under test. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker, type NativeConnection } from '@temporalio/worker';
import { runWorkers } from '../../workers/run-workers.ts';

export interface Peer {
  /** One run, from the start to the result. */
  run(): Promise<void>;
  close(): Promise<void>;
}

export async function startPeer(connection: NativeConnection, client: Client): Promise<Peer> {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const noOp = () => Promise.resolve();
  const workers = runWorkers([
    await Worker.create({ connection, taskQueue: 'bench-here', workflowBundle, activities: { second: noOp } }),
    await Worker.create({ connection, taskQueue: 'bench-elsewhere', activities: { first: noOp } }),
  ]);
  let count = 0;
  return {
    async run() {
      count += 1;
      await client.workflow.execute('bare', {
        taskQueue: 'bench-here',
        workflowId: `bench-bare-${count}`,
        args: ['bench-elsewhere'],
      });
    },
    close: () => workers.close(),
  };
}
