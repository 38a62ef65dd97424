/** What the store keeps of workspaces, as each process sees it (spec/store.md). Errors as in `port.ts`. */
import type { ExecutorRole } from '../../schemas/names.ts';
import type { LifecycleWrite } from '../../schemas/workspace/activities.ts';
import type {
  IncidentRecord,
  LifecycleEvent,
  RecoveryRecord,
  WorkspaceRecord,
} from '../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';

/** At least so many events are kept before the oldest fall off. */
export const EVENT_RING_CAP = 100_000;

export interface EventPage {
  /** In order. */
  readonly events: readonly LifecycleEvent[];
  /** How many of the tenant's events fell off the ring so far. */
  readonly fellOff: number;
  /** Number of the newest event; 0 when there is none. */
  readonly lastSeq: number;
}

/** Reads; every user may. */
export interface LifecycleReader {
  readWorkspace(tenant: string, id: string): Promise<WorkspaceRecord | null>;
  /** Newest write first. */
  listWorkspaces(tenant: string, limit: number): Promise<readonly WorkspaceRecord[]>;
  /** Those that are not over: what the reconciler compares with Coder. */
  listOpenWorkspaces(tenant: string): Promise<readonly WorkspaceRecord[]>;
  /** Events after `afterSeq`. */
  readEventRing(tenant: string, afterSeq: number, limit: number): Promise<EventPage>;
  listRecoveries(tenant: string): Promise<readonly RecoveryRecord[]>;
  readIncident(tenant: string, id: string): Promise<IncidentRecord | null>;
  /** Newest first. */
  listIncidents(tenant: string, limit: number): Promise<readonly IncidentRecord[]>;
  readSlots(tenant: string, role: WorkspaceRole): Promise<SlotsView | null>;
}

/** What the control worker may do. */
export interface LifecycleStore extends LifecycleReader {
  /** Projection and events in one step; repeating a write changes nothing. */
  recordLifecycle(write: LifecycleWrite): Promise<void>;
  openRecovery(tenant: string, record: RecoveryRecord): Promise<void>;
  closeRecovery(tenant: string, run: string): Promise<void>;
  writeIncident(tenant: string, record: IncidentRecord): Promise<void>;
  writeSlots(tenant: string, view: SlotsView): Promise<void>;
  /**
   * From now on this workspace serves the role of the pair. Repeating it is a no-op.
   * @throws `not_found` without the pair, `state_conflict` when a newer workspace serves already
   */
  seatWorkspace(tenant: string, pair: string, role: ExecutorRole, seated: SeatedWorkspace): Promise<void>;
  readSuspects(tenant: string): Promise<readonly string[]>;
  writeSuspects(tenant: string, suspects: readonly string[]): Promise<void>;
}

export interface SeatedWorkspace {
  readonly name: string;
  readonly generation: number;
}
