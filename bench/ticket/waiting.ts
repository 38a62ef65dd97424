/** Many open tickets that wait for a slot: what they cost in memory, and what the stack does while nothing happens. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import { submitTicket } from '../../cli/ticket/start.ts';
import { exampleRepository } from '../../local/example.ts';
import { PART_NAMES, type PartName } from '../../local/state.ts';
import { NO_SLOTS } from '../../policies/workspaces/slots.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { slotsWorkflowId, workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import { SLOTS_SIGNAL, type SlotsInput, type SlotsMessage } from '../../schemas/workspace/slots.ts';
import { WORKSPACE_WORKFLOWS } from '../../schemas/workspace/workflow.ts';
import { pollUntil } from '../../test/support/poll.ts';
import { progress } from '../support/progress.ts';
import type { BenchReport } from '../support/report.ts';
import { smallTicket } from './many.ts';
import { processorPercent, processorSecondsOf, residentMib } from './parts.ts';
import { remoteFor, TENANT, type BenchStack } from './stack.ts';

const AT_ONCE = 16;
const SETTLE_MS = 15_000;
/** More than one round of the reconciler. */
const IDLE_SECONDS = 35;
const WAITING_MS = 360_000;
const MIB = 1024 ** 2;

interface Sight {
  readonly mib: ReadonlyMap<PartName, number>;
  readonly percent: ReadonlyMap<PartName, number>;
  readonly store: number;
  readonly database: number;
}

export async function waitingTickets(on: BenchStack, count: number): Promise<BenchReport> {
  await occupySlots(on);
  const before = await look(on, 'without a ticket');
  const spent = () => processorSecondsOf(on.stack);
  const remote = await remoteFor(on.stack, await exampleRepository(on.stack.paths.examples), 'waiting');
  const spentBefore = spent();
  const began = performance.now();
  const refused = await startAll(on, count, remote);
  const startSeconds = (performance.now() - began) / 1000;
  const waiting = await untilWaiting(on, count - refused.length);
  const waitSeconds = (performance.now() - began) / 1000;
  const spentAfter = spent();
  const after = await look(on, `with ${waiting} tickets that wait`);
  const perTicket = (bytes: number) => bytes / 1024 / Math.max(1, waiting);
  const facts: Record<string, string | number> = {};
  for (const part of PART_NAMES) {
    const [first, last] = [before.mib.get(part) ?? 0, after.mib.get(part) ?? 0];
    facts[`memory of ${part} before and after, MiB`] = `${first.toFixed(0)} and ${last.toFixed(0)}`;
    facts[`memory of ${part} a ticket, KiB`] = perTicket((last - first) * MIB);
  }
  for (const part of PART_NAMES) {
    const used = (spentAfter.get(part) ?? 0) - (spentBefore.get(part) ?? 0);
    facts[`processor of ${part} a ticket until it waits, ms`] = (used * 1000) / Math.max(1, waiting);
    const [first, last] = [before.percent.get(part) ?? 0, after.percent.get(part) ?? 0];
    facts[`idle processor use of ${part} before and after, % of one`] = `${first.toFixed(1)} and ${last.toFixed(1)}`;
  }
  return {
    comparisons: [],
    timings: [],
    goals: [
      {
        goal: `${count} tickets wait for a slot`,
        measured: `${waiting} wait${refused.length === 0 ? '' : `; ${refused.length} refused, the first by ${refused[0] ?? ''}`}`,
        met: waiting === count,
      },
    ],
    facts: {
      'tickets that wait': waiting,
      'starts a second': (count - refused.length) / startSeconds,
      'seconds until all wait for a slot': waitSeconds,
      'held by the store a ticket, KiB': perTicket(after.store - before.store),
      'Temporal database a ticket, KiB': perTicket(after.database - before.database),
      ...facts,
      'idle processor use of all before, % of one': sum(before.percent),
      'idle processor use of all after, % of one': sum(after.percent),
    },
  };
}

function sum(of: ReadonlyMap<PartName, number>): number {
  return [...of.values()].reduce((whole, one) => whole + one, 0);
}

/**
 * FORGE's slots are held by workflows that are open and never move: nobody polls their queue. So the tickets wait, and nothing that
 * works disturbs what is measured.
 */
async function occupySlots({ temporal }: BenchStack): Promise<void> {
  const role = 'forge';
  const capacity = (await loadWorkspaceRegistry()).registry.agents[role].maxWorkers;
  for (let n = 1; n <= capacity; n += 1) {
    const holder = workspaceWorkflowId({ tenant: TENANT, ticket: 'held', role, workspaceGeneration: n });
    await temporal.workflow.start(WORKSPACE_WORKFLOWS.workspace, {
      workflowId: holder,
      taskQueue: 'bench-nobody',
      args: [],
    });
    const input: SlotsInput = { tenant: TENANT, role, state: NO_SLOTS, inbox: [] };
    const message: SlotsMessage = { kind: 'held', holder, capacity };
    await temporal.workflow.signalWithStart(WORKSPACE_WORKFLOWS.slots, {
      workflowId: slotsWorkflowId({ tenant: TENANT, role }),
      taskQueue: controlQueue(TENANT),
      args: [input],
      signal: SLOTS_SIGNAL,
      signalArgs: [message],
    });
  }
}

/** Codes of those that were refused. */
async function startAll({ stack }: BenchStack, count: number, remote: string): Promise<readonly string[]> {
  const refused: string[] = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      next += 1;
      const id = `W-${next}`;
      if (next % 100 === 0) progress(`waiting tickets: ${next} of ${count} started`);
      await submitTicket(stack.operator, await smallTicket(id, remote)).catch((thrown: unknown) => {
        refused.push(thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown));
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return refused;
}

/** How many wait in the end. */
async function untilWaiting({ lifecycle }: BenchStack, wanted: number): Promise<number> {
  const seen = async () => (await lifecycle.readSlots(TENANT, 'forge'))?.waiting.length ?? 0;
  let said = 0;
  const look = async () => {
    const now = await seen();
    if (now - said >= 100) progress(`waiting tickets: ${now} of ${wanted} wait for a slot`);
    said = now - said >= 100 ? now : said;
    return now >= wanted;
  };
  await pollUntil(look, { what: 'all tickets to wait', deadlineMs: WAITING_MS, everyMs: 500 }).catch(() => {});
  return await seen();
}

async function look(on: BenchStack, what: string): Promise<Sight> {
  progress(`the stack ${what} is left alone for ${(SETTLE_MS / 1000 + IDLE_SECONDS).toFixed(0)} s`);
  await delay(SETTLE_MS);
  const percent = await processorPercent(on.stack, IDLE_SECONDS);
  const { temporalDatabase } = on.stack.paths;
  const database = ['', '-wal'].reduce((bytes, end) => bytes + sizeOf(`${temporalDatabase}${end}`), 0);
  return { mib: residentMib(on.stack), percent, store: await on.storeBytes(), database };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
