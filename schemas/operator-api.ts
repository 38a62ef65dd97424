/**
 * The operator API of the gateway: JSON, an operator's bearer on every call, the tenant always the credential's own. Paths and
 * shapes are here for both sides; answers carry a `schema`, errors are `{"error":{"code","message","mend","details"}}`.
 */
import type { HumanAnswerGiven } from './gate/human.ts';
import { checkedName, type ExecutorRole } from './names.ts';
import type { TicketRecord } from './ticket/activities.ts';
import type { TicketDefinition } from './ticket/definition.ts';
import type { OperatorDecision } from './ticket/event.ts';
import type { TicketSource } from './ticket/workflow.ts';
import type { IncidentRecord, WorkspaceRecord } from './workspace/lifecycle.ts';
import type { IncidentRuling } from './workspace/workflow.ts';
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
  /** Open tickets that were told to stop, when this answers a turn. */
  readonly tickets: SetKillSwitchResult['tickets'] | null;
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

/** Paths and shapes of tickets, workspaces and incidents. */
export const ORCHESTRATION_PATHS = {
  /** GET, query `limit` → {@link TicketListAnswer}; POST {@link StartTicketRequest} → {@link TicketStartedAnswer} */
  tickets: `${ROOT}/tickets`,
  /** GET → {@link TicketAnswerView} */
  ticket: (ticket: string) => `${ROOT}/tickets/${checkedName('ticket', ticket)}`,
  /** POST {@link DecideTicketRequest} → {@link TicketDecidedAnswer} */
  ticketDecision: (ticket: string) => `${ROOT}/tickets/${checkedName('ticket', ticket)}/decision`,
  /** POST {@link DecideGateRequest} → {@link GateDecidedAnswer} */
  gateDecision: (ticket: string) => `${ROOT}/tickets/${checkedName('ticket', ticket)}/gate-decision`,
  /** GET, query `limit` → {@link WorkspaceListAnswer} */
  workspaces: `${ROOT}/workspaces`,
  /** GET → {@link WorkspaceAnswer} */
  workspace: (id: string) => `${ROOT}/workspaces/${checkedName('workspace', id)}`,
  /** POST {@link TeardownRequest} → {@link WorkspaceAnswer} */
  teardown: (id: string) => `${ROOT}/workspaces/${checkedName('workspace', id)}/teardown`,
  /** GET, query `limit` → {@link IncidentListAnswer} */
  incidents: `${ROOT}/incidents`,
  /** POST {@link RulingRequest} → {@link IncidentRuledAnswer} */
  ruling: (id: string) => `${ROOT}/incidents/${checkedName('incident', id)}/ruling`,
} as const;

export interface StartTicketRequest {
  readonly definition: TicketDefinition;
  readonly source: TicketSource;
}

export interface TicketStartedAnswer {
  readonly schema: 'portcullis/ticket-started/v1';
  readonly ticket: string;
  readonly workflowId: string;
  /** `running`: that ticket was started before, with whatever definition. */
  readonly outcome: 'started' | 'running';
}

export interface TicketListAnswer {
  readonly schema: 'portcullis/ticket-list/v1';
  /** Newest change first. */
  readonly items: readonly TicketRecord[];
}

export interface TicketAnswerView {
  readonly schema: 'portcullis/ticket-view/v1';
  readonly ticket: TicketRecord;
}

export interface DecideTicketRequest {
  readonly decision: OperatorDecision;
  readonly reason: string;
  /** The revision that it was decided on. */
  readonly revision: number;
}

export interface TicketDecidedAnswer {
  readonly schema: 'portcullis/ticket-decided/v1';
  readonly ticket: string;
  readonly revision: number;
  readonly phase: string;
}

/** Who says it is the credential's, never in the request. */
export interface DecideGateRequest extends HumanAnswerGiven {
  /** The ticket's revision that it was decided on. */
  readonly revision: number;
}

/** It is on record. Whether it counts says the next evaluation. */
export interface GateDecidedAnswer {
  readonly schema: 'portcullis/gate-decided/v1';
  readonly ticket: string;
  readonly revision: number;
  readonly phase: string;
}

export interface WorkspaceListAnswer {
  readonly schema: 'portcullis/workspace-list/v1';
  readonly items: readonly WorkspaceRecord[];
}

export interface WorkspaceAnswer {
  readonly schema: 'portcullis/workspace-view/v1';
  readonly workspace: WorkspaceRecord;
}

export interface TeardownRequest {
  readonly reason: string;
}

export interface IncidentListAnswer {
  readonly schema: 'portcullis/incident-list/v1';
  readonly items: readonly IncidentRecord[];
}

export interface RulingRequest {
  readonly ruling: IncidentRuling['ruling'];
  readonly reason: string;
}

export interface IncidentRuledAnswer {
  readonly schema: 'portcullis/incident-ruled/v1';
  readonly incident: string;
  readonly taken: boolean;
}
