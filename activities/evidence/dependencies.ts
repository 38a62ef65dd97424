/** What the control worker's activities around evidence need; given once when it starts. */
import type { GateKeys } from '../gate/standing.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { EvidenceStore } from '../store/gate-port.ts';
import type { ControlStore } from '../store/port.ts';

export interface EvidenceDependencies {
  readonly evidence: EvidenceStore;
  /** Persisted verifications, and the audit chain. */
  readonly store: Pick<ControlStore, 'readRequest' | 'readResult' | 'appendAuditOnce'>;
  /** Signs audit entries. */
  readonly actionKey: SigningKey;
  /** Whose decisions count. */
  readonly gateKeys: GateKeys;
}
