/** A template, its parameters, and what the server is: what is resolved before a workspace is asked for. */

export interface TemplateParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly mutable: boolean;
  readonly defaultValue: string;
  /** The only values it takes; empty means any. */
  readonly options: readonly string[];
}

export interface TemplateState {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly activeVersionId: string;
  readonly deprecated: boolean;
  readonly deleted: boolean;
  readonly defaultTtlMs: number;
  /** By how much activity moves the deadline; worker templates need 0. */
  readonly activityBumpMs: number;
  readonly failureTtlMs: number;
  /** Worker templates need 0: dormancy stops agents. */
  readonly timeTilDormantMs: number;
  readonly userMayCancel: boolean;
}

export interface CoderServer {
  readonly version: string;
  readonly deploymentId: string;
}
