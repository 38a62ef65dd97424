/** Where the workflows are: TypeScript in a clone, JavaScript in the installed package. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export const WORKFLOWS_PATH = fileURLToPath(new URL(`../../workflows/index.${EXTENSION}`, import.meta.url));

export async function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return await bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, logger: new DefaultLogger('WARN') });
}
