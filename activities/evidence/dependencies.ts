/** What the control worker's activities around evidence need; given once when it starts. */
import type { GateKeys } from '../gate/standing.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { EvidenceStore } from '../store/gate-port.ts';
import type { StoreReader } from '../store/port.ts';

export interface EvidenceDependencies {
  readonly evidence: EvidenceStore;
  /** Persisted verifications. */
  readonly store: Pick<StoreReader, 'readRequest' | 'readResult'>;
  /** Signs audit entries. */
  readonly actionKey: SigningKey;
  /** Whose decisions count. */
  readonly gateKeys: GateKeys;
}
