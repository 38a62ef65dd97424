/** The reconciler: what it is called, and the activities it repeats. */
export const RECONCILE_WORKFLOW = 'reconcile';

export interface ReconcileInput {
  readonly tenant: string;
}

export interface ReconcileOutcome {
  /** Tasks that were ended because their workflow is closed without having ended them. */
  readonly abandoned: number;
  /** Null when no Coder server is set up. */
  readonly workspaces?: WorkspaceRound | null;
}

/** One round over the workspaces of a tenant. */
export interface WorkspaceRound {
  /** Workspaces of the service user at Coder. */
  readonly seen: number;
  /** What looked wrong, and is believed if the next round sees it again. */
  readonly suspected: number;
  readonly acted: number;
}

export interface ReconcileActivities {
  endAbandonedRuns(tenant: string): Promise<number>;
  reconcileWorkspaces(tenant: string): Promise<WorkspaceRound | null>;
}
