/** The recorded paths of `workspace` and of its destroyer, each with what Coder is scripted to. */
import type { WorkflowHandle } from '@temporalio/client';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { DestroyInput } from '../../schemas/workspace/activities.ts';
import type { WorkspaceInput } from '../../schemas/workspace/workflow.ts';
import { pollUntil } from '../support/poll.ts';
import { DELETE_FAILED, GONE, type CoderScript, type Play, type Stage } from './workspace-stage.ts';

export interface WorkspacePath {
  readonly workflow: 'workspace' | 'destroyWorkspace';
  readonly name: string;
  readonly script: CoderScript;
  readonly input?: Partial<WorkspaceInput>;
  /** Whether its waits take minutes, on a server that skips them. */
  readonly skipping?: true;
  /** Answers another workflow when that is the one to record. */
  readonly meanwhile?: (on: Play, handle: WorkflowHandle, stage: Stage) => Promise<WorkflowHandle | null>;
}

const ALIVE = () => ({ kind: 'alive' }) as const;
const OWNER_CLOSED = () => ({ kind: 'owner_closed' }) as const;

async function untilReady({ told }: Play): Promise<void> {
  const isReady = async () => (await told()).some(({ signal }) => signal === 'workspaceReady');
  await pollUntil(isReady, { what: 'the workspace to be ready', deadlineMs: 20_000, everyMs: 100 });
}

async function untilWaitingOn(handle: WorkflowHandle, waitingOn: string): Promise<void> {
  const seen = async () => (await handle.describe()).typedSearchAttributes.get(SEARCH_ATTRIBUTES.waitingOn);
  await pollUntil(async () => (await seen()) === waitingOn, { what: `a wait on ${waitingOn}`, deadlineMs: 20_000 });
}

async function release(handle: WorkflowHandle): Promise<null> {
  await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
  return null;
}

const RELEASED: WorkspacePath['meanwhile'] = async (on, handle) => {
  await untilReady(on);
  return await release(handle);
};

/** Nobody answers to this id; the slot is freed by the path itself. */
const HELD = 'workspace/golden/held/lore/1';

export const WORKSPACE_PATHS: readonly WorkspacePath[] = [
  { workflow: 'workspace', name: 'gone-after-release', script: {}, meanwhile: RELEASED },
  {
    workflow: 'workspace',
    name: 'create-adopted',
    script: { create: (asked) => (asked === 1 ? 'coder_unavailable' : 'adopted') },
    meanwhile: RELEASED,
  },
  {
    workflow: 'workspace',
    name: 'waited-for-a-slot',
    script: { maxWorkers: 1 },
    input: { role: 'lore' },
    meanwhile: async (on, handle, stage) => {
      await untilWaitingOn(handle, 'slot');
      await stage.tellSlots('lore', { kind: 'release', holder: HELD, because: 'gone' });
      await untilReady(on);
      return await release(handle);
    },
  },
  {
    workflow: 'workspace',
    name: 'provision-failed',
    script: { install: () => ({ step: 'failed', reason: 'start_error', detail: '' }) },
  },
  { workflow: 'workspace', name: 'template-refused', script: { template: 'workspace_template_refused' } },
  { workflow: 'workspace', name: 'without-coder', script: { plan: 'coder_not_configured' } },
  {
    workflow: 'workspace',
    name: 'cancelled-provisioning',
    script: { install: () => ({ step: 'queued', reason: '', detail: 'place 3 of 3' }) },
    meanwhile: async (_, handle) => {
      await untilWaitingOn(handle, 'coder');
      await handle.cancel();
      return null;
    },
  },
  {
    workflow: 'workspace',
    name: 'cancelled-executing',
    script: {},
    meanwhile: async (on, handle) => {
      await untilReady(on);
      await untilWaitingOn(handle, 'release');
      await handle.cancel();
      return null;
    },
  },
  { workflow: 'workspace', name: 'owner-closed', script: {}, input: { owner: 'ticket/none' } },
  { workflow: 'workspace', name: 'ttl-expired', skipping: true, script: { ttlSeconds: 120, watch: ALIVE } },
  {
    workflow: 'workspace',
    name: 'lost',
    skipping: true,
    script: { watch: (look) => (look < 3 ? ALIVE() : { kind: 'stale', reason: 'not_running' }) },
  },
  {
    workflow: 'workspace',
    name: 'delete-retried',
    skipping: true,
    script: { watch: OWNER_CLOSED, remove: (look) => (look <= 3 ? DELETE_FAILED : GONE) },
  },
  {
    workflow: 'workspace',
    name: 'quarantined-then-gone',
    skipping: true,
    script: { watch: OWNER_CLOSED, remove: (look) => (look <= 6 ? DELETE_FAILED : GONE) },
  },
  {
    workflow: 'destroyWorkspace',
    name: 'gone-after-its-owner',
    script: { remove: (look) => (look === 1 ? DELETE_FAILED : GONE) },
    skipping: true,
    meanwhile: async (on, handle, stage) => {
      await untilReady(on);
      await handle.terminate('an operator ended it');
      return await on.client.workflow.start('destroyWorkspace', {
        taskQueue: controlQueue(stage.tenant),
        workflowId: handle.workflowId,
        args: [{ record: on.seen.last() } satisfies DestroyInput],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
      });
    },
  },
];

/** Plays one path up to where only its end is missing; `record` gets the workflow to wait for. */
export async function playWorkspace(
  play: (ticket: string, script: CoderScript, act: (on: Play) => Promise<void>) => Promise<void>,
  stage: Stage,
  path: WorkspacePath,
  record: (handle: WorkflowHandle) => Promise<void>,
): Promise<void> {
  if (path.input?.role === 'lore') await stage.tellSlots('lore', { kind: 'held', holder: HELD, capacity: 1 });
  await play(`${path.workflow}-${path.name}`, path.script, async (on) => {
    const handle = await on.start(path.input);
    await record((await path.meanwhile?.(on, handle, stage)) ?? handle);
  });
}
