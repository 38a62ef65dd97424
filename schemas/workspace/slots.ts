/** What holders and `slots/{tenant}/{role}` say to each other (spec/tickets.md, Slots). A holder is a workflow id. */
import type { WorkspaceRole } from './workflow.ts';

/** So many quarantined workspaces of a role stop new provisioning of that role. */
export const QUARANTINE_LIMIT = 3;

/** Names of the signals to `slots`; each carries a {@link SlotsMessage} of that kind. */
export const SLOTS_SIGNAL = 'slotsMessage';
/** → {@link SlotsView}. */
export const SLOTS_QUERY = 'slotsView';

/** A slot that nobody has is `idle`. `suspended`: its worker failed and is being destroyed. */
export type SlotState = 'leased' | 'working' | 'suspended';

export type SlotsMessage =
  /** Takes a place in line, or is told again what it has. */
  | { readonly kind: 'request'; readonly holder: string; readonly capacity: number }
  /** Said before a name is recorded: from now on only a proof frees the slot. */
  | { readonly kind: 'recorded'; readonly holder: string }
  | { readonly kind: 'working'; readonly holder: string }
  | { readonly kind: 'suspended'; readonly holder: string }
  /** `never_recorded` is believed only of a holder that never said `recorded`. */
  | { readonly kind: 'release'; readonly holder: string; readonly because: 'gone' | 'never_recorded' }
  | { readonly kind: 'quarantine'; readonly holder: string }
  /** The quarantined workspace is gone, or an operator ruled on it. */
  | { readonly kind: 'resolved'; readonly holder: string }
  /** From the reconciler: a workspace that exists and whose holder is not known here. */
  | { readonly kind: 'held'; readonly holder: string; readonly capacity: number };

export interface SlotHolder {
  readonly holder: string;
  readonly state: SlotState;
  readonly recorded: boolean;
  readonly since: number;
}

export interface SlotsState {
  readonly capacity: number;
  /** In the order in which they were granted. */
  readonly holders: readonly SlotHolder[];
  /** In order; the first is next. */
  readonly waiting: readonly { readonly holder: string; readonly since: number }[];
  readonly quarantined: readonly { readonly holder: string; readonly since: number }[];
}

export interface SlotsInput {
  readonly tenant: string;
  readonly role: WorkspaceRole;
  readonly state: SlotsState;
  /** Messages that came in and are not applied yet; carried when the workflow continues as new. */
  readonly inbox: readonly SlotsMessage[];
}

export interface SlotsView extends SlotsState {
  readonly schema: 'portcullis/slots/v1';
  readonly role: WorkspaceRole;
  readonly idle: number;
  readonly stopped: boolean;
}
