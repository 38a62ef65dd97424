/** What the activities of workspaces need, from the settings of the control worker. */
import { readFile, stat } from 'node:fs/promises';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { connectChats } from '../../activities/coder/chats/connect.ts';
import { connectCoder } from '../../activities/coder/connect.ts';
import type { LifecycleStore } from '../../activities/store/lifecycle-port.ts';
import type { ControlStore } from '../../activities/store/port.ts';
import type { SigningKey } from '../../activities/signing/keys.ts';
import { httpComputeSweep, NO_SWEEP } from '../../activities/workspaces/compute-sweep.ts';
import type { CoderAccess, OwnerState, WorkspaceDependencies } from '../../activities/workspaces/dependencies.ts';
import type { WorkspaceWorkflows } from '../../activities/workspaces/reconcile.ts';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import { NO_SLOTS } from '../../policies/workspaces/slots.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName } from '../../schemas/names.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { TICKET_WORKFLOW } from '../../schemas/ticket/workflow.ts';
import { VERIFICATION_WORKFLOW } from '../../schemas/verification/workflow.ts';
import { slotsWorkflowId, strayWorkflowId } from '../../schemas/workflow-ids.ts';
import type { DestroyInput, StrayInput } from '../../schemas/workspace/activities.ts';
import {
  SLOTS_QUERY,
  SLOTS_SIGNAL,
  type SlotsInput,
  type SlotsMessage,
  type SlotsView,
} from '../../schemas/workspace/slots.ts';
import { WORKSPACE_SIGNALS, WORKSPACE_WORKFLOWS, type WorkspaceRole } from '../../schemas/workspace/workflow.ts';

/** A Coder server and the identities of the control plane there. */
export interface CoderServerSettings {
  readonly url: string;
  /** Of the lifecycle identity. */
  readonly token: string;
  readonly chatToken: string | null;
  readonly breakGlassToken: string | null;
  readonly organization: string;
  /** User name of the service user. */
  readonly owner: string;
  readonly sweepUrl: string | null;
}

export interface WorkspaceSettings {
  /** Null or left out: there is no Coder, and a workspace ends by `coder_not_configured`. */
  readonly coder?: CoderServerSettings | null;
  /** File (mode 0600) of the key that makes claim codes; needed with `coder`. */
  readonly claimKeyFile?: string;
  /** The registry that comes with the program unless set. */
  readonly workspaceRegistryFile?: string;
  /** Milliseconds for which a workspace may be out of sight; 90 000 unless set. */
  readonly staleAfterMs?: number;
}

interface Given {
  readonly store: ControlStore;
  readonly lifecycle: LifecycleStore;
  readonly actionKey: SigningKey;
  readonly temporal: Client;
}

/** @throws `setting_invalid` */
export async function workspaceDependencies(given: Given, settings: WorkspaceSettings): Promise<WorkspaceDependencies> {
  const { store, lifecycle, actionKey, temporal } = given;
  const coder = settings.coder ?? null;
  const [registry, claimKey] = await Promise.all([
    loadWorkspaceRegistry(settings.workspaceRegistryFile),
    coder === null ? new Uint8Array() : readClaimKey(settings.claimKeyFile ?? ''),
  ]);
  return {
    store,
    lifecycle,
    actionKey,
    registry,
    claimKey,
    coder: coder === null ? null : coderAccess(coder),
    signalSlots: (tenant, role, message) => signalSlots(temporal, tenant, role, message),
    describe: (workflowId) => describeOwner(temporal, workflowId),
    staleAfterMs: settings.staleAfterMs ?? 90_000,
  };
}

function coderAccess(settings: CoderServerSettings): CoderAccess {
  const { url, token, chatToken, breakGlassToken, organization, owner, sweepUrl } = settings;
  return {
    port: connectCoder({ url, token }),
    chats: chatToken === null ? null : connectChats({ url, token: chatToken }),
    breakGlass: breakGlassToken === null ? null : connectCoder({ url, token: breakGlassToken }),
    organization,
    owner,
    sweep: sweepUrl === null ? NO_SWEEP : httpComputeSweep(sweepUrl, token),
  };
}

/** Codes must survive a restart, or a repeated create would give another one: so it is a file, and there is none without. */
async function readClaimKey(file: string): Promise<Uint8Array> {
  const refuse = (reason: string) => portcullisError('setting_invalid', { name: `key file ${file}`, reason });
  let text: string;
  try {
    if (((await stat(file)).mode & 0o077) !== 0) throw refuse('is readable by others; make it mode 0600');
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw error instanceof Error && error.name === 'PortcullisError' ? error : refuse('cannot be read');
  }
  const key = Buffer.from(text, 'base64url');
  if (key.length < 32) throw refuse('holds fewer than 32 bytes');
  return key;
}

async function signalSlots(
  temporal: Client,
  tenant: string,
  role: WorkspaceRole,
  message: SlotsMessage,
): Promise<void> {
  const input: SlotsInput = { tenant, role, state: NO_SLOTS, inbox: [] };
  await temporal.workflow.signalWithStart(WORKSPACE_WORKFLOWS.slots, {
    workflowId: slotsWorkflowId({ tenant, role }),
    taskQueue: controlQueue(tenant),
    args: [input],
    signal: SLOTS_SIGNAL,
    signalArgs: [message],
    staticSummary: `slots of ${role}`,
  });
}

/** By id: lists lag and decide nothing. */
export async function describeOwner(temporal: Client, workflowId: string): Promise<OwnerState> {
  try {
    const { status } = await temporal.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' ? 'open' : 'closed';
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return 'absent';
    throw thrown;
  }
}

/** A page of executions. */
const PAGE = 1_000;
/** Workspaces, and what may own one. */
const OWNER_TYPES = [
  WORKSPACE_WORKFLOWS.workspace,
  WORKSPACE_WORKFLOWS.destroy,
  TICKET_WORKFLOW,
  VERIFICATION_WORKFLOW,
].map((type) => `'${type}'`);

/** From the list, which lags: only to spare a Describe of what seems to be well. Raw, since nothing but the ids is read. */
export async function listRunning(temporal: Client, tenant: string): Promise<ReadonlySet<string>> {
  const { namespace } = temporal.options;
  const query = [
    `${SEARCH_ATTRIBUTES.tenant.name}='${checkedName('tenant', tenant)}'`,
    "ExecutionStatus='Running'",
    `WorkflowType IN (${OWNER_TYPES.join(', ')})`,
  ].join(' AND ');
  const running = new Set<string>();
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await temporal.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: PAGE,
      nextPageToken,
    });
    for (const { execution } of page.executions) if (execution?.workflowId) running.add(execution.workflowId);
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
  return running;
}

/** What the reconciler does through Temporal. */
export function workspaceWorkflows(temporal: Client): WorkspaceWorkflows {
  return {
    listRunning: (tenant) => listRunning(temporal, tenant),
    slotsView: async (tenant, role) => {
      const handle = temporal.workflow.getHandle(slotsWorkflowId({ tenant, role }));
      // One that was ended still answers what it knew, and the next message starts one that knows nothing.
      if ((await describeOwner(temporal, handle.workflowId)) !== 'open') return null;
      return await unlessMissing(async () => await handle.query<SlotsView>(SLOTS_QUERY));
    },
    startDestroyer: async (record) => {
      const input: DestroyInput = { record };
      await startOnce(
        temporal,
        WORKSPACE_WORKFLOWS.destroy,
        record.run,
        record.tenant,
        [input],
        `destroy ${record.id}`,
      );
    },
    startStrayDestroyer: async (tenant, coderWorkspaceId, name) => {
      const input: StrayInput = { tenant, coderWorkspaceId, name };
      const workflowId = strayWorkflowId({ tenant, coderWorkspaceId });
      await startOnce(temporal, WORKSPACE_WORKFLOWS.destroyStray, workflowId, tenant, [input], `destroy stray ${name}`);
    },
    cancel: async (workflowId) => {
      await unlessMissing(async () => await temporal.workflow.getHandle(workflowId).cancel());
    },
    tellVanished: async (workflowId) => {
      await unlessMissing(async () => await temporal.workflow.getHandle(workflowId).signal(WORKSPACE_SIGNALS.vanished));
    },
  };
}

/** Never beside one of the same id that runs: two could not both prove that the workspace is gone. */
async function startOnce(
  temporal: Client,
  workflowType: string,
  workflowId: string,
  tenant: string,
  args: [DestroyInput] | [StrayInput],
  staticSummary: string,
): Promise<void> {
  try {
    await temporal.workflow.start(workflowType, {
      workflowId,
      taskQueue: controlQueue(tenant),
      args,
      staticSummary,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
  } catch (thrown) {
    if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) throw thrown;
  }
}

async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return null;
    throw thrown;
  }
}
