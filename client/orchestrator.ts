/**
 * A client for a trusted orchestrator: it moves tickets straight over Temporal and reads them at the gateway, whose projection outlives
 * Temporal's retention. Temporal does not know who calls, so whoever reaches it may do all of this; everybody else goes through the
 * gateway, which checks authority first. What nobody can do here is make a gate pass.
 * Every method that moves a ticket throws `temporal_unavailable` when Temporal does not answer; every one that reads,
 * `gateway_unavailable`; each, `schema_invalid` for a name that is none.
 *
 * @example
 * const gateway = new GatewayClient({ url, bearer });
 * const orchestrator = new Orchestrator({ temporal: new Client({ connection }), gateway, tenant: 'acme', by: 'nexus' });
 * await orchestrator.startTicket(definition, { importId: null, baseSha: null, remote: 'https://git.example/bucket.git' });
 * for await (const { phase, waitingOn } of orchestrator.watch('T-048')) console.log(phase, waitingOn);
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { asPortcullisError, portcullisError } from '../schemas/errors.ts';
import { ticketDefinitionSchema } from '../schemas/ticket/definition.schema.ts';
import type { TicketDefinition } from '../schemas/ticket/definition.ts';
import { isTerminal } from '../schemas/ticket/phase.ts';
import { ticketStartOptions } from '../schemas/ticket/start.ts';
import type { TicketState, TicketUpdateOutcome } from '../schemas/ticket/state.ts';
import { isPassingOutcome, repeatedUpdateId, ticketUpdateId } from '../schemas/ticket/update-id.ts';
import {
  TICKET_UPDATES,
  TICKET_WORKFLOW,
  type AnswerReview,
  type DecideTicket,
  type ReasonedRequest,
  type SubmitPlan,
  type SubmitReady,
  type SubmitSegment,
  type TicketSource,
  type TicketUpdateArguments,
  type TicketUpdateName,
} from '../schemas/ticket/workflow.ts';
import { ticketWorkflowId } from '../schemas/workflow-ids.ts';
import type { GatewayClient } from './gateway-client.ts';
import { awayFailure, lostItsTask, orchestratorFailure } from './temporal-failures.ts';

export interface OrchestratorOptions {
  /** Connected, with the namespace of Portcullis. */
  readonly temporal: Client;
  readonly tenant: string;
  /** Who acts, as history and audit show it. */
  readonly by: string;
  /** Where tickets are read. Their workflows are not queried: a query costs a worker's time, and ends with the retention. */
  readonly gateway: TicketReads;
}

/** What a {@link GatewayClient} with an operator's bearer is for. */
export type TicketReads = Pick<GatewayClient, 'getTicket' | 'listTickets'>;

/** A request of an update without the caller, whom the client adds. */
type Asked<R> = Omit<R, 'by'>;
/** What the ticket answered to something it took. */
export type TicketMoved = Omit<Extract<TicketUpdateOutcome, { readonly accepted: true }>, 'accepted'>;

export interface WatchTicketOptions {
  readonly signal?: AbortSignal;
  /** Between two looks, milliseconds. */
  readonly everyMs?: number;
}

const START_MS = 5_000;
/** A handler reads a blob or two; after this the caller asks again, which repeats nothing. */
const UPDATE_MS = 20_000;
/** Of an update whose task failed under it; each has the same id, so it is done once. */
const UPDATE_TRIES = 5;
const RETRY_MS = 100;
/** How long a watch waits for somebody who does not answer, milliseconds. */
const PATIENCE_MS = 90_000;
const PASSING: readonly string[] = ['gateway_unavailable', 'store_unavailable', 'rate_limited'];

export class Orchestrator {
  readonly #temporal: Client;
  readonly #tenant: string;
  readonly #by: string;
  readonly #reads: TicketReads;

  constructor({ temporal, tenant, by, gateway }: OrchestratorOptions) {
    this.#temporal = temporal;
    this.#tenant = tenant;
    this.#by = by;
    this.#reads = gateway;
  }

  /**
   * Starts a ticket, once for each id; `running`: it was started before, with whatever definition.
   * @throws `schema_invalid` (the definition), `state_conflict` for a ticket that has ended
   */
  async startTicket(
    definition: TicketDefinition,
    source: TicketSource,
  ): Promise<{ readonly workflowId: string; readonly outcome: 'started' | 'running' }> {
    const start = { tenant: this.#tenant, definition: checked(definition), source, by: this.#by };
    const options = ticketStartOptions(start);
    const { workflowId } = options;
    try {
      return await this.#temporal.withDeadline(Date.now() + START_MS, async () => {
        try {
          await this.#temporal.workflow.start(TICKET_WORKFLOW, options);
          return { workflowId, outcome: 'started' } as const;
        } catch (thrown) {
          if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) throw thrown;
          const { status } = await this.#temporal.workflow.getHandle(workflowId).describe();
          if (status.name === 'RUNNING') return { workflowId, outcome: 'running' } as const;
          throw portcullisError('state_conflict', { what: `The ticket ${definition.id}, which has ended,` });
        }
      });
    } catch (thrown) {
      throw awayFailure(thrown);
    }
  }

  /** The whole state: phase, what it waits for and since when, decisions, history. @throws `not_found` before its first record */
  async getTicket(ticket: string): Promise<TicketState> {
    return (await this.#reads.getTicket(ticket)).ticket.state;
  }

  /** Newest change first, at most `limit` (50). */
  async listTickets({ limit = 50 }: { readonly limit?: number } = {}): Promise<readonly TicketState[]> {
    return (await this.#reads.listTickets({ limit })).items.map(({ state }) => state);
  }

  /**
   * FORGE's plan is at this pushed commit. `revision` is the ticket's at which this was decided, here and below; the same request
   * again is answered as the first one was.
   * @throws `ticket_stale`, `ticket_phase`, `ticket_ended`, `missing_artifact`, `candidate_unchanged`, `ticket_mismatch`,
   *   `submission_unavailable` (nobody could look; the same request again is looked at again), `not_found`
   */
  submitPlan(ticket: string, request: Asked<SubmitPlan>): Promise<TicketMoved> {
    return this.#update(ticket, 'submitPlan', { ...request, by: this.#by });
  }

  /** Segment `n` is at this pushed commit. @throws as `submitPlan` */
  submitSegment(ticket: string, request: Asked<SubmitSegment>): Promise<TicketMoved> {
    return this.#update(ticket, 'submitSegment', { ...request, by: this.#by });
  }

  /** Every segment has passed and nothing is left to build; while documenting, LORE's change is there. @throws as `submitPlan` */
  submitReady(ticket: string, request: Asked<SubmitReady>): Promise<TicketMoved> {
    return this.#update(ticket, 'submitReady', { ...request, by: this.#by });
  }

  /**
   * The reviewer approved: an input of the gate, which decides. Its approval token is consumed by the gateway, not here.
   * @throws `ticket_stale`, `ticket_phase`, `ticket_ended`, `ticket_mismatch`, `approval_used`, `not_found`
   */
  approve(ticket: string, request: Asked<AnswerReview>): Promise<TicketMoved> {
    return this.#update(ticket, 'approve', { ...request, by: this.#by });
  }

  /** The reviewer rejected. @throws as `approve` */
  reject(ticket: string, request: Asked<AnswerReview>): Promise<TicketMoved> {
    return this.#update(ticket, 'reject', { ...request, by: this.#by });
  }

  /** An operator's decision: `retry`, `resume` or `abandon`. @throws `ticket_stale`, `ticket_phase`, `ticket_ended`, `merge_in_progress`, `not_found` */
  decide(ticket: string, request: Asked<DecideTicket>): Promise<TicketMoved> {
    return this.#update(ticket, 'decide', { ...request, by: this.#by });
  }

  /** Goes on where a stopped ticket was, in a new execution that inherits no pass. @throws as `decide` */
  resume(ticket: string, request: Asked<ReasonedRequest>): Promise<TicketMoved> {
    return this.#update(ticket, 'resume', { ...request, by: this.#by });
  }

  /** Ends it: every workspace goes, nothing lands. @throws as `decide` */
  abandon(ticket: string, request: Asked<ReasonedRequest>): Promise<TicketMoved> {
    return this.#update(ticket, 'abandon', { ...request, by: this.#by });
  }

  /**
   * The state now and each later one that a look finds, to the terminal one; states between two looks are not shown, but all
   * of them are in `history`.
   * @throws `not_found`, `interrupted` by its signal, `gateway_unavailable` after a minute and a half without an answer
   */
  async *watch(ticket: string, { signal, everyMs = 1_000 }: WatchTicketOptions = {}): AsyncGenerator<TicketState> {
    let seen = '';
    let awaySince: number | null = null;
    for (;;) {
      if (signal?.aborted === true) throw portcullisError('interrupted');
      try {
        const state = await this.getTicket(ticket);
        awaySince = null;
        const { revision, phase, waitingOn, since } = state;
        const shown = JSON.stringify([revision, phase, waitingOn, since]);
        if (shown !== seen) yield state;
        seen = shown;
        if (isTerminal(phase)) return;
      } catch (thrown) {
        const { code } = asPortcullisError(thrown);
        awaySince ??= performance.now();
        const passing = PASSING.includes(code) || (code === 'not_found' && seen === '' && (await this.#isOpen(ticket)));
        if (!passing || performance.now() - awaySince > PATIENCE_MS) throw thrown;
      }
      await delay(everyMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }

  /** Whether its workflow runs: then its first record is on its way. @throws `not_found` */
  async #isOpen(ticket: string): Promise<boolean> {
    const handle = this.#temporal.workflow.getHandle(ticketWorkflowId({ tenant: this.#tenant, ticket }));
    try {
      return (await handle.describe()).status.name === 'RUNNING';
    } catch (thrown) {
      throw orchestratorFailure(thrown, ticket);
    }
  }

  async #update<U extends TicketUpdateName>(
    ticket: string,
    update: U,
    request: TicketUpdateArguments[U],
  ): Promise<TicketMoved> {
    const handle = this.#temporal.workflow.getHandle(ticketWorkflowId({ tenant: this.#tenant, ticket }));
    const args: [TicketUpdateArguments[U]] = [request];
    const send = async (updateId: string, tries: number): Promise<TicketUpdateOutcome> => {
      try {
        return await handle.executeUpdate<TicketUpdateOutcome, [TicketUpdateArguments[U]]>(TICKET_UPDATES[update], {
          args,
          updateId,
        });
      } catch (thrown) {
        if (tries <= 1 || !lostItsTask(thrown)) throw orchestratorFailure(thrown, ticket);
      }
      await delay(RETRY_MS);
      return await send(updateId, tries - 1);
    };
    const id = ticketUpdateId(update, request);
    const outcome = await this.#temporal.withDeadline(Date.now() + UPDATE_MS, async () => {
      const first = await send(id, UPDATE_TRIES);
      // Nobody could tell, now or when it was sent before: Temporal would answer the same for ever.
      return isPassingOutcome(first)
        ? await send(repeatedUpdateId(id, randomBytes(6).toString('hex')), UPDATE_TRIES)
        : first;
    });
    if (!outcome.accepted) throw portcullisError(outcome.refusal.code, outcome.refusal.details);
    const { accepted: _, ...moved } = outcome;
    return moved;
  }
}

/** @throws `schema_invalid`, naming the first field that is wrong */
function checked(definition: TicketDefinition): TicketDefinition {
  const read = ticketDefinitionSchema.safeParse(definition);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = ['definition', ...(issue?.path ?? []).map(String)].join('.').slice(0, 200);
  throw portcullisError('schema_invalid', { path, reason: (issue?.message ?? 'is invalid').slice(0, 200) });
}
