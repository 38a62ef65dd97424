/** What the activities of a pair need; given once when the worker starts. */
import type { SigningKey } from '../signing/keys.ts';
import type { ControlStore } from '../store/port.ts';

export interface PairDependencies {
  readonly store: ControlStore;
  readonly repositoriesDir: string;
  readonly incomingDir: string;
  readonly actionKey: SigningKey;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ids of the tenant's verify workflows that are listed as running. */
  readonly listRunning: (tenant: string) => AsyncIterable<string>;
  readonly cancelWorkflow: (workflowId: string) => Promise<void>;
}
