/** What the activities of workspaces need; given once when the worker starts. */
import type { LoadedWorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import type { SlotsMessage } from '../../schemas/workspace/slots.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import type { ChatLister, ChatPort } from '../coder/chats/port.ts';
import type { CoderPort } from '../coder/port.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { LifecycleStore } from '../store/lifecycle-port.ts';
import type { ControlStore } from '../store/port.ts';
import type { ComputeSweep } from './compute-sweep.ts';

/** A Coder server and who the control plane is there. */
export interface CoderAccess {
  /** The lifecycle identity: it makes and deletes. */
  readonly port: CoderPort;
  /** The chat identity's; null where no role has the engine `chat`. */
  readonly chats: (ChatPort & ChatLister) | null;
  /** May orphan; null where nobody may. */
  readonly breakGlass: CoderPort | null;
  /** Name or id. */
  readonly organization: string;
  /** User name of the service user that owns every workspace. */
  readonly owner: string;
  readonly sweep: ComputeSweep;
}

/** What a workflow id is, by a Describe: lists lag and decide nothing. */
export type OwnerState = 'open' | 'closed' | 'absent';

export interface WorkspaceDependencies {
  readonly store: ControlStore;
  readonly lifecycle: LifecycleStore;
  readonly registry: LoadedWorkspaceRegistry;
  /** Null when no server is set up: a workspace then ends by `coder_not_configured`. */
  readonly coder: CoderAccess | null;
  /** Makes claim codes; control's own. */
  readonly claimKey: Uint8Array;
  readonly actionKey: SigningKey;
  /** Signals the slots of a role, which are started when they are not there. */
  readonly signalSlots: (tenant: string, role: WorkspaceRole, message: SlotsMessage) => Promise<void>;
  readonly describe: (workflowId: string) => Promise<OwnerState>;
  /** For how long a workspace may be out of sight before it counts as stale, in milliseconds. */
  readonly staleAfterMs: number;
}
