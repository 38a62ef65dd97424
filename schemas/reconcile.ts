/** The reconciler: what it is called, and the activity it repeats. */
export const RECONCILE_WORKFLOW = 'reconcile';

export interface ReconcileInput {
  readonly tenant: string;
}

export interface ReconcileOutcome {
  /** Tasks that were ended because their workflow is closed without having ended them. */
  readonly abandoned: number;
}

export interface ReconcileActivities {
  endAbandonedRuns(tenant: string): Promise<number>;
}
