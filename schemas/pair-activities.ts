/** The activities of the workflows that open and close a pair and turn the kill switch. Implemented in `activities/pair/`. */
import type { CredentialRecord } from './credential.ts';
import type { KillSwitch } from './pair.ts';
import type { ClaimOffer, OpenPairInput, OpenPairResult } from './verify/workflow.ts';

export interface ImportRequest {
  readonly tenant: string;
  readonly pair: string;
  /** `null`: the commits are in the control plane's repository already, which is then checked. */
  readonly importId: string | null;
  readonly headSha: string;
  readonly baseSha: string | null;
}

export interface PairRecords {
  readonly input: OpenPairInput;
  /** One for each claim of the input, in its order. */
  readonly credentials: readonly { readonly offer: ClaimOffer; readonly record: CredentialRecord }[];
}

export interface RevocationRequest {
  readonly tenant: string;
  readonly pair: string;
  readonly by: string;
}

export interface KillSwitchWrite {
  /** `null` is the switch of the whole installation. */
  readonly scope: string | null;
  /** Whose audit chain records it. */
  readonly tenant: string;
  readonly value: KillSwitch;
}

export interface TicketsToTell {
  /** `null` for the tickets of every tenant. */
  readonly scope: string | null;
  readonly reason: string;
  readonly by: string;
  /** Where the page before ended; `null` for the first. */
  readonly after: string | null;
}

export interface ToldTickets {
  readonly told: number;
  /** What to go on after; `null` when every one was told. */
  readonly next: string | null;
}

export interface PairActivities {
  /** @throws `repository_invalid`, `not_found` */
  importRepository(request: ImportRequest): Promise<void>;
  /** @throws `state_conflict` when a workspace is not newer than the one that serves its role now. */
  recordPair(records: PairRecords): Promise<OpenPairResult>;
  /** Ids of the credentials that were active. */
  revokePair(request: RevocationRequest): Promise<readonly string[]>;
  writeKillSwitch(write: KillSwitchWrite): Promise<void>;
  /** Tells the tenant's running verifies to cancel; how many. Visibility lags, so it is asked more than once. */
  cancelRunning(tenant: string): Promise<number>;
  /** Tells a page of the open tickets, from the store's list of them, that the switch is on. Telling one twice changes nothing. */
  tellTickets(of: TicketsToTell): Promise<ToldTickets>;
}
