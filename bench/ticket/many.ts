/** Many small tickets at bounded concurrency, to their end: none may fail, no slot may be used twice, nothing may be left. */
import { readFileSync, statSync } from 'node:fs';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import { readTicketFile } from '../../cli/ticket/file.ts';
import { EXAMPLE_TICKET_FILE } from '../../local/example-ticket.ts';
import { exampleRepository } from '../../local/example.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import { progress } from '../support/progress.ts';
import type { BenchReport } from '../support/report.ts';
import { summarise } from '../support/statistics.ts';
import { eventsOf, mostHeld } from './slots.ts';
import { remoteFor, runTicket, TENANT, workspacesLeft, type BenchStack } from './stack.ts';

/** Open at once: more than FORGE has slots, so that some always wait for one. */
const AT_ONCE = 6;
const TICKET_MS = 300_000;
const GONE_MS = 90_000;

/** One segment, no documentation. */
export async function smallTicket(id: string, remote: string): Promise<TicketDefinition> {
  return {
    ...(await readTicketFile(EXAMPLE_TICKET_FILE)),
    id,
    title: 'Tell the level',
    body: 'Callers can ask for `level(time)`, how many tokens are there.',
    repository: { remote },
    segmentsHint: 1,
    documentation: false,
  };
}

interface Finished {
  readonly ms: number;
  /** `null` when it went as it should; otherwise by name. */
  readonly failure: string | null;
  readonly sentBack: number;
}

export async function manyTickets(on: BenchStack, count: number, boundMs: number): Promise<BenchReport> {
  const finished: Finished[] = [];
  const repository = await exampleRepository(on.stack.paths.examples);
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  let next = 0;
  const work = async () => {
    while (next < count && elapsed() < boundMs) {
      next += 1;
      const id = `M-${next}`;
      finished.push(await one(on, repository, id, Math.min(TICKET_MS, boundMs - elapsed() + 30_000)));
      const failed = finished.filter(({ failure }) => failure !== null).length;
      progress(`tickets: ${finished.length} of ${count} ended, ${failed} failed`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work));
  const minutes = elapsed() / 60_000;
  const left = await workspacesLeft(on, GONE_MS);
  const failures = new Map<string, number>();
  for (const { failure } of finished) if (failure !== null) failures.set(failure, (failures.get(failure) ?? 0) + 1);
  if (finished.length < count) failures.set('not started in time', count - finished.length);
  const [slots, history, incidents] = await Promise.all([
    slotUse(on),
    longestHistory(on, finished.length),
    on.lifecycle.listIncidents(TENANT, 500),
  ]);
  const done = finished.filter(({ failure }) => failure === null);
  const named = [...failures].map(([name, times]) => `${name}: ${times}`).join(', ');
  return {
    comparisons: [],
    timings:
      done.length === 0 ? [] : [{ name: 'small ticket, start to merged', ms: summarise(done.map(({ ms }) => ms)) }],
    goals: [
      {
        goal: `${count} tickets, ${AT_ONCE} open at once: all merged`,
        measured: `${done.length} merged${named === '' ? '' : `; ${named}`}`,
        met: done.length === count,
      },
      ...slots.map(({ role, most, capacity }) => ({
        goal: `slots of ${role} never above ${capacity}`,
        measured: `${most} at most`,
        met: most <= capacity,
      })),
      {
        goal: 'every workspace gone, no incident',
        measured: left.length === 0 ? `none left, ${incidents.length} incidents` : left.slice(0, 5).join(', '),
        met: left.length === 0 && incidents.length === 0,
      },
    ],
    facts: {
      'tickets merged': done.length,
      'tickets a minute': done.length / minutes,
      'minutes for all': minutes,
      'times work was sent back': finished.reduce((sum, { sentBack }) => sum + sentBack, 0),
      'longest history of a ticket, events': history,
      'Temporal database a ticket, MiB':
        statSync(on.stack.paths.temporalDatabase).size / 1024 ** 2 / Math.max(1, done.length),
      'load at the end': readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? '',
    },
  };
}

async function one({ stack }: BenchStack, repository: string, id: string, deadlineMs: number): Promise<Finished> {
  const began = performance.now();
  try {
    const { record, ms } = await runTicket(
      stack,
      await smallTicket(id, await remoteFor(stack, repository, id)),
      deadlineMs,
    );
    return { ms, failure: failureOf(record), sentBack: record.state.lineage.length };
  } catch (thrown) {
    const phase = await stack.operator.getTicket(id).then(
      ({ ticket }) => ticket.state.phase,
      () => 'unknown',
    );
    progress(`${id}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return { ms: performance.now() - began, failure: `unfinished in ${phase}`, sentBack: 0 };
  }
}

function failureOf({ state: { ticketId, phase, stop } }: TicketRecord): string | null {
  if (phase === 'done') return null;
  progress(`${ticketId}: ${phase}, ${stop?.cause ?? ''}: ${stop?.detail ?? ''}`);
  return `${phase} ${stop?.cause ?? ''}`.trim();
}

async function slotUse({ lifecycle }: BenchStack) {
  const [most, { registry }] = await Promise.all([eventsOf(lifecycle, TENANT).then(mostHeld), loadWorkspaceRegistry()]);
  return [...most].map(([role, held]) => ({ role, most: held, capacity: registry.agents[role].maxWorkers }));
}

async function longestHistory({ temporal }: BenchStack, count: number): Promise<number> {
  let longest = 0;
  for (let n = 1; n <= count; n += 1) {
    const id = ticketWorkflowId({ tenant: TENANT, ticket: `M-${n}` });
    const length = await temporal.workflow
      .getHandle(id)
      .describe()
      .then(
        ({ historyLength }) => historyLength,
        () => 0,
      );
    longest = Math.max(longest, length);
  }
  return longest;
}
