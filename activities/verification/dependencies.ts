/** What the activities of a verification need; given once when the worker starts. */
import type { LoadedCommandPolicy } from '../../policies/commands/types.ts';
import type { ContentDigest } from '../../schemas/digest.ts';
import type { EvidenceActivities } from '../../schemas/gate/activities.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { StoreConnection } from '../store/connect.ts';
import type { EvidenceStore } from '../store/gate-port.ts';
import type { ControlStore } from '../store/port.ts';

export interface VerificationDependencies {
  readonly repositoriesDir: string;
  readonly store: ControlStore;
  readonly evidenceStore: EvidenceStore;
  /** Bound to the same store. */
  readonly evidence: EvidenceActivities;
  /** Of the user `control`: admissions, approvals, assignments. */
  readonly connection: StoreConnection;
  /** Signs entries of the audit chain. */
  readonly actionKey: SigningKey;
  readonly commandPolicy: LoadedCommandPolicy;
  /** Digest of the registry of workspaces. */
  readonly workforceRevision: ContentDigest;
  /** Makes the ids of tasks; control's own, so that they are as unguessable as the gateway's and never the same. */
  readonly taskIdKey: Uint8Array;
}
