/** What the control plane's activities around a verify need; given once when the worker starts. */
import type { LoadedCommandPolicy } from '../../policies/commands/types.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { ControlStore } from '../store/port.ts';

export interface VerifyDependencies {
  readonly store: ControlStore;
  /** Directory of the control plane's own bare repositories. */
  readonly repositoriesDir: string;
  readonly commandPolicy: LoadedCommandPolicy;
  /** Signs actions and audit entries. */
  readonly actionKey: SigningKey;
  /** Tells a waiting verify that the line moved. Best effort: it looks again by itself. */
  readonly nudge: (workflowId: string) => Promise<void>;
  /** Seconds for which the same request is answered with an earlier answer. */
  readonly reuseWindowSecs: number;
}
