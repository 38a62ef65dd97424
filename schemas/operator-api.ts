/**
 * The operator API of the gateway: JSON, an operator's bearer on every call, the tenant always the credential's own. Paths and
 * shapes are here for both sides; answers carry a `schema`, errors are `{"error":{"code","message","mend","details"}}`.
 */
import { checkedName, type ExecutorRole } from './names.ts';
import type { OutputStream } from './keys.ts';
import type { KillSwitch, PairHead, PairRoles } from './pair.ts';
import type { AcceptedRequest } from './verify/request.ts';
import type { VerifyResult } from './verify/result.ts';
import type { TaskSnapshot } from './verify/task.ts';
import type { ClosePairResult, OpenPairInput, OpenPairResult, SetKillSwitchResult } from './verify/workflow.ts';

const ROOT = '/v1/operator';

export const OPERATOR_PATHS = {
  /** POST a git bundle, raw → {@link ImportAnswer} */
  imports: `${ROOT}/imports`,
  /** POST {@link OpenPairRequest} → {@link OpenPairAnswer} */
  pairs: `${ROOT}/pairs`,
  /** GET → {@link PairAnswer}; DELETE → {@link ClosePairAnswer} */
  pair: (pair: string) => `${ROOT}/pairs/${checkedName('pair', pair)}`,
  /** GET, query `pair` and `limit` → {@link TaskListAnswer} */
  tasks: `${ROOT}/tasks`,
  /** GET → {@link TaskAnswer} */
  task: (task: string) => `${ROOT}/tasks/${encodeURIComponent(task)}`,
  /** GET → the stored bytes of the stream, head and tail. */
  output: (task: string, stream: OutputStream) => `${ROOT}/tasks/${encodeURIComponent(task)}/output/${stream}`,
  /** GET → {@link KillSwitchAnswer}; PUT {@link KillSwitchRequest} → {@link KillSwitchAnswer} */
  killSwitch: `${ROOT}/kill-switch`,
  /** GET → {@link StatusAnswer} */
  status: `${ROOT}/status`,
} as const;

export interface ImportAnswer {
  readonly schema: 'portcullis/import/v1';
  readonly importId: string;
  readonly bytes: number;
}

/** {@link OpenPairInput} without what the credential says. */
export type OpenPairRequest = Omit<OpenPairInput, 'tenant' | 'by'>;

export interface OpenPairAnswer extends OpenPairResult {
  readonly schema: 'portcullis/pair-opened/v1';
}

export interface PairAnswer {
  readonly schema: 'portcullis/pair/v1';
  readonly head: PairHead;
  readonly roles: PairRoles;
  /** Of each executor role that has a workspace: whether its executor is at the door now. */
  readonly presence: Readonly<Partial<Record<ExecutorRole, 'idle' | 'busy' | 'absent' | 'unknown'>>>;
}

export interface ClosePairAnswer extends ClosePairResult {
  readonly schema: 'portcullis/pair-closed/v1';
}

export interface TaskListAnswer {
  readonly schema: 'portcullis/task-list/v1';
  /** Newest first. Without a pair it comes from Temporal's visibility, which lags about a second. */
  readonly items: readonly TaskSnapshot[];
}

export interface TaskAnswer {
  readonly schema: 'portcullis/task-view/v1';
  readonly task: TaskSnapshot;
  readonly request: AcceptedRequest | null;
  readonly result: VerifyResult | null;
}

export interface KillSwitchRequest {
  readonly on: boolean;
  readonly reason: string;
  readonly cancelRunning: boolean;
  /** `tenant` when left out. */
  readonly scope?: 'tenant' | 'installation';
}

export interface KillSwitchAnswer {
  readonly schema: 'portcullis/kill-switch-state/v1';
  /** The switch that is on; `null` when none is. */
  readonly active: KillSwitch | null;
  /** Verifies that were told to cancel, when this answers a turn. */
  readonly cancelled: SetKillSwitchResult['cancelled'] | null;
}

export interface StatusAnswer {
  readonly schema: 'portcullis/gateway-status/v1';
  readonly tenant: string;
  readonly replica: string;
  readonly store: { readonly ok: boolean; readonly memoryUse: number | null };
  readonly temporal: { readonly ok: boolean; readonly address: string; readonly namespace: string };
  readonly killSwitch: KillSwitch | null;
  readonly policy: { readonly id: string; readonly revision: number; readonly digest: string };
}
