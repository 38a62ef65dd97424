/**
 * A client of the gateway: A2A for verifications (HTTP+JSON binding), the operator API and the claim exchange. Errors are the
 * catalogue's; whatever the gateway refused is thrown as it named it.
 *
 * @example
 * const client = new GatewayClient({ url: 'http://127.0.0.1:7430', bearer });
 * const task = await client.sendVerify(request);
 * for await (const seen of client.watch(task.id)) if (seen.kind === 'end') console.log(seen.task.state);
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { portcullisError } from '../schemas/errors.ts';
import { EVIDENCE_PATHS, type EvidenceAnswer, type FindingsAnswer } from '../schemas/gate/evidence-api.ts';
import { GATE_PATHS, type GateAnswer, type GateHistoryAnswer } from '../schemas/gate/operator-api.ts';
import type { OutputStream } from '../schemas/keys.ts';
import {
  OPERATOR_PATHS,
  ORCHESTRATION_PATHS,
  type ClosePairAnswer,
  type DecideGateRequest,
  type DecideTicketRequest,
  type GateDecidedAnswer,
  type IncidentListAnswer,
  type IncidentRuledAnswer,
  type RulingRequest,
  type StartTicketRequest,
  type TeardownRequest,
  type TicketAnswerView,
  type TicketDecidedAnswer,
  type TicketListAnswer,
  type TicketStartedAnswer,
  type WorkspaceAnswer,
  type WorkspaceListAnswer,
  type ImportAnswer,
  type KillSwitchAnswer,
  type KillSwitchRequest,
  type OpenPairAnswer,
  type OpenPairRequest,
  type PairAnswer,
  type StatusAnswer,
  type TaskAnswer,
  type TaskListAnswer,
} from '../schemas/operator-api.ts';
import { RECORDS_PATHS, type AuditPageAnswer, type EventPageAnswer } from '../schemas/records-api.ts';
import { A2A_HEADERS, A2A_PATHS, VERIFY_EXTENSION, VERIFY_MEDIA_TYPES } from '../schemas/verify/a2a.ts';
import { WORKSPACE_PATHS, type ClaimExchange, type ClaimGrant } from '../schemas/workspace-api.ts';
import { readSent, readStreamed, readTask, type Streamed, type VerifyTask } from './a2a.ts';
import { askJson, open, type Call, type Endpoint } from './http.ts';
import { serverEvents } from './sse.ts';
import { watchTask, type Watched } from './watch.ts';

/** A verify request as it goes over the wire (spec/delegated-verification.md section 1). */
export interface VerifyAsk {
  readonly task_type: 'verify';
  readonly pair_id: string;
  readonly verify: {
    readonly kind: 'command';
    readonly cwd: 'repo' | 'worktree';
    readonly argv: readonly string[];
    readonly timeout_secs: number;
    readonly expect: { readonly exit_code: number; readonly artifacts?: readonly string[] };
    readonly executor?: 'forge' | 'verifier';
    readonly subject?: { readonly head_sha: string; readonly execution: string; readonly generation: number };
    readonly attempt?: number;
  };
}

export interface SendOptions {
  /** Give the same one when a send is repeated: it then starts nothing again. */
  readonly messageId?: string;
  /** `true` answers only when the task has ended. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
}

/** Three heartbeats. */
const SILENCE_MS = 45_000;
/** Taking in a history of many gigabytes takes as long as it takes, within this. */
const LONG_MS = 2 * 3_600_000;

const A2A = { [A2A_HEADERS.version]: '1.0', [A2A_HEADERS.extensions]: VERIFY_EXTENSION };

export class GatewayClient {
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** The same gateway with another bearer. */
  as(bearer: string): GatewayClient {
    return new GatewayClient({ ...this.#endpoint, bearer });
  }

  /** @throws `claim_code_invalid` */
  exchangeClaim(exchange: ClaimExchange): Promise<ClaimGrant> {
    return this.#ask({ method: 'POST', path: WORKSPACE_PATHS.exchange, json: exchange }, 'portcullis/claim-grant/v1');
  }

  // Verifications

  /** The task that answers the request; one that policy refused has state `rejected` and names the code. */
  async sendVerify(ask: VerifyAsk, options: SendOptions = {}): Promise<VerifyTask> {
    const message = {
      messageId: options.messageId ?? randomUUID(),
      role: 'ROLE_USER',
      parts: [{ data: ask, mediaType: VERIFY_MEDIA_TYPES.request }],
      extensions: [VERIFY_EXTENSION],
    };
    const configuration = { returnImmediately: options.wait !== true };
    const call = this.#a2a('POST', '/message:send', { json: { message, configuration } }, options.signal);
    return readSent(await askJson(this.#endpoint, { ...call, ...(options.wait === true ? { timeoutMs: 0 } : {}) }));
  }

  /** With `afterSeq`, the metadata holds the events after it. @throws `not_found` */
  async getTask(id: string, afterSeq?: number): Promise<VerifyTask> {
    const query = afterSeq === undefined ? {} : { query: { afterSeq } };
    return readTask(await askJson(this.#endpoint, this.#a2a('GET', taskPath(id), query)));
  }

  /** Where the task stands a moment after it was told to stop. @throws `task_not_cancelable`, `not_found` */
  async cancelTask(id: string): Promise<VerifyTask> {
    return readTask(await askJson(this.#endpoint, this.#a2a('POST', `${taskPath(id)}:cancel`, { json: {} })));
  }

  /**
   * Everything that happens to the task, to its end. It resumes by itself after a cut, losing and repeating nothing.
   * @throws `stream_cut` when it cannot come back for a minute and a half, `not_found`, `unauthenticated`, `interrupted`
   */
  watch(
    id: string,
    options: { readonly afterSeq?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Watched> {
    const { signal } = options;
    return watchTask(
      {
        subscribe: (lastEventId) => this.subscribe(id, { lastEventId, ...(signal === undefined ? {} : { signal }) }),
        getTask: (afterSeq) => {
          if (signal?.aborted === true) throw portcullisError('interrupted');
          return this.getTask(id, afterSeq);
        },
        pause: (ms) => delay(ms),
      },
      options.afterSeq ?? null,
    );
  }

  /** One subscription, as it comes. @throws `unsupported_operation` for a task that has ended, `stream_cut` */
  async *subscribe(
    id: string,
    options: { readonly lastEventId: number | null; readonly signal?: AbortSignal },
  ): AsyncGenerator<Streamed> {
    const headers = options.lastEventId === null ? {} : { 'Last-Event-ID': String(options.lastEventId) };
    const call = this.#a2a('GET', `${taskPath(id)}:subscribe`, { headers }, options.signal);
    const response = await open(this.#endpoint, call);
    try {
      for await (const event of serverEvents(response, SILENCE_MS)) {
        const item = readStreamed(event.data);
        if (item !== null) yield item;
      }
    } catch (thrown) {
      if (options.signal?.aborted === true) throw portcullisError('interrupted', {}, thrown);
      throw thrown;
    }
  }

  // The operator API

  /** Uploads a git bundle. @throws `bundle_too_large`, `disk_full`, and what the stream itself failed with */
  importBundle(bundle: Readable | Uint8Array): Promise<ImportAnswer> {
    const stream = bundle instanceof Readable ? bundle : Readable.from([bundle]);
    const call: Call = { method: 'POST', path: OPERATOR_PATHS.imports, stream, timeoutMs: LONG_MS };
    return this.#ask(call, 'portcullis/import/v1');
  }

  openPair(request: OpenPairRequest): Promise<OpenPairAnswer> {
    const call: Call = { method: 'POST', path: OPERATOR_PATHS.pairs, json: request, timeoutMs: LONG_MS };
    return this.#ask(call, 'portcullis/pair-opened/v1');
  }

  pair(pair: string): Promise<PairAnswer> {
    return this.#ask({ method: 'GET', path: OPERATOR_PATHS.pair(pair) }, 'portcullis/pair/v1');
  }

  closePair(pair: string): Promise<ClosePairAnswer> {
    const call: Call = { method: 'DELETE', path: OPERATOR_PATHS.pair(pair), timeoutMs: 60_000 };
    return this.#ask(call, 'portcullis/pair-closed/v1');
  }

  /** Newest first, of one pair or of the whole tenant. */
  listTasks(query: { readonly pair?: string; readonly limit?: number } = {}): Promise<TaskListAnswer> {
    return this.#ask({ method: 'GET', path: OPERATOR_PATHS.tasks, query }, 'portcullis/task-list/v1');
  }

  showTask(id: string): Promise<TaskAnswer> {
    return this.#ask({ method: 'GET', path: OPERATOR_PATHS.task(id) }, 'portcullis/task-view/v1');
  }

  /** The stored bytes of a stream. @throws `not_found` */
  taskOutput(id: string, stream: OutputStream): Promise<Readable> {
    return open(this.#endpoint, { method: 'GET', path: OPERATOR_PATHS.output(id, stream) });
  }

  killSwitch(): Promise<KillSwitchAnswer> {
    return this.#ask({ method: 'GET', path: OPERATOR_PATHS.killSwitch }, 'portcullis/kill-switch-state/v1');
  }

  turnKillSwitch(request: KillSwitchRequest): Promise<KillSwitchAnswer> {
    const call: Call = { method: 'PUT', path: OPERATOR_PATHS.killSwitch, json: request, timeoutMs: 60_000 };
    return this.#ask(call, 'portcullis/kill-switch-state/v1');
  }

  status(): Promise<StatusAnswer> {
    return this.#ask({ method: 'GET', path: OPERATOR_PATHS.status }, 'portcullis/gateway-status/v1');
  }

  // Tickets, workspaces, incidents

  /** Starts the ticket, once for each id. @throws `kill_switch`, `state_conflict` for a ticket that has ended */
  startTicket(request: StartTicketRequest): Promise<TicketStartedAnswer> {
    return this.#ask(
      { method: 'POST', path: ORCHESTRATION_PATHS.tickets, json: request },
      'portcullis/ticket-started/v1',
    );
  }

  /** Newest change first. */
  listTickets(query: { readonly limit?: number } = {}): Promise<TicketListAnswer> {
    return this.#ask({ method: 'GET', path: ORCHESTRATION_PATHS.tickets, query }, 'portcullis/ticket-list/v1');
  }

  /** @throws `not_found` */
  getTicket(ticket: string): Promise<TicketAnswerView> {
    return this.#ask({ method: 'GET', path: ORCHESTRATION_PATHS.ticket(ticket) }, 'portcullis/ticket-view/v1');
  }

  /** An operator's decision on the revision that it was made on. @throws `ticket_stale`, `ticket_phase`, `ticket_ended`, `not_found` */
  decideTicket(ticket: string, request: DecideTicketRequest): Promise<TicketDecidedAnswer> {
    const call: Call = { method: 'POST', path: ORCHESTRATION_PATHS.ticketDecision(ticket), json: request };
    return this.#ask({ ...call, timeoutMs: 30_000 }, 'portcullis/ticket-decided/v1');
  }

  /**
   * The caller's own decision on what a gate judges, as evidence: decide to retry, and the gate is evaluated with it.
   * @throws `ticket_stale`, `ticket_mismatch`, `override_refused`, `not_allowed`, `ticket_ended`, `not_found`
   */
  decideGate(ticket: string, request: DecideGateRequest): Promise<GateDecidedAnswer> {
    const call: Call = { method: 'POST', path: ORCHESTRATION_PATHS.gateDecision(ticket), json: request };
    return this.#ask({ ...call, timeoutMs: 30_000 }, 'portcullis/gate-decided/v1');
  }

  listWorkspaces(query: { readonly limit?: number } = {}): Promise<WorkspaceListAnswer> {
    return this.#ask({ method: 'GET', path: ORCHESTRATION_PATHS.workspaces, query }, 'portcullis/workspace-list/v1');
  }

  /** @throws `not_found` */
  showWorkspace(id: string): Promise<WorkspaceAnswer> {
    return this.#ask({ method: 'GET', path: ORCHESTRATION_PATHS.workspace(id) }, 'portcullis/workspace-view/v1');
  }

  /** Asks for its end. @throws `not_found`, `state_conflict` when it is over */
  tearDownWorkspace(id: string, request: TeardownRequest): Promise<WorkspaceAnswer> {
    const call: Call = { method: 'POST', path: ORCHESTRATION_PATHS.teardown(id), json: request };
    return this.#ask(call, 'portcullis/workspace-view/v1');
  }

  listIncidents(query: { readonly limit?: number } = {}): Promise<IncidentListAnswer> {
    return this.#ask({ method: 'GET', path: ORCHESTRATION_PATHS.incidents, query }, 'portcullis/incident-list/v1');
  }

  /** @throws `not_found`, `state_conflict` for one that is closed */
  ruleIncident(id: string, request: RulingRequest): Promise<IncidentRuledAnswer> {
    const call: Call = { method: 'POST', path: ORCHESTRATION_PATHS.ruling(id), json: request };
    return this.#ask(call, 'portcullis/incident-ruled/v1');
  }

  // Decisions

  /**
   * A decision and whether it counts now, by its evaluation key, its subject's digest or its ticket (then the newest).
   * @throws `not_found`
   */
  showGate(id: string): Promise<GateAnswer> {
    return this.#ask({ method: 'GET', path: GATE_PATHS.decision(id) }, 'portcullis/gate-view/v1');
  }

  /** Every decision about a ticket or a subject, newest first. @throws `not_found` */
  gateHistory(id: string): Promise<GateHistoryAnswer> {
    return this.#ask({ method: 'GET', path: GATE_PATHS.history(id) }, 'portcullis/gate-history/v1');
  }

  /**
   * One record of evidence by its digest, with or without `sha256:`; `ticket` says in whose index one of a check is looked for.
   * @throws `not_found`
   */
  showEvidence(digest: string, ticket: string | null = null): Promise<EvidenceAnswer> {
    const query = ticket === null ? {} : { ticket };
    return this.#ask({ method: 'GET', path: EVIDENCE_PATHS.record(digest), query }, 'portcullis/evidence-view/v1');
  }

  /** What was ever found in a ticket, newest first, and what became of it. @throws `not_found` */
  ticketFindings(ticket: string): Promise<FindingsAnswer> {
    return this.#ask({ method: 'GET', path: EVIDENCE_PATHS.findingsOf(ticket) }, 'portcullis/findings/v1');
  }

  // What was kept

  /** A page of the audit chain: the newest entries, or those that follow the number `after`. */
  auditPage(query: { readonly after?: number; readonly limit?: number } = {}): Promise<AuditPageAnswer> {
    return this.#ask({ method: 'GET', path: RECORDS_PATHS.audit, query }, 'portcullis/audit-page/v1');
  }

  /** A page of the ring of lifecycle events, in the same way. */
  eventPage(query: { readonly after?: number; readonly limit?: number } = {}): Promise<EventPageAnswer> {
    return this.#ask({ method: 'GET', path: RECORDS_PATHS.events, query }, 'portcullis/event-page/v1');
  }

  /** An answer of our own gateway: its schema's name says which shape it has. */
  async #ask<T extends { readonly schema: string }>(call: Call, schema: T['schema']): Promise<T> {
    const value = await askJson(this.#endpoint, call);
    if (isAnswer<T>(value, schema)) return value;
    throw portcullisError('schema_invalid', { path: call.path, reason: `did not answer a ${schema}` });
  }

  #a2a(method: 'GET' | 'POST', path: string, more: Partial<Call> = {}, signal?: AbortSignal): Call {
    return {
      ...more,
      method,
      path: `${A2A_PATHS.rest}${path}`,
      headers: { ...A2A, ...more.headers },
      ...(signal === undefined ? {} : { signal }),
    };
  }
}

function isAnswer<T extends { readonly schema: string }>(value: unknown, schema: T['schema']): value is T {
  return Reflect.get(Object(value), 'schema') === schema;
}

function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}
