/** The example ticket beside the sum of its commands, and where the rest of its time goes. */
import { readTicketFile } from '../../cli/ticket/file.ts';
import { EXAMPLE_TICKET_FILE } from '../../local/example-ticket.ts';
import { exampleRepository } from '../../local/example.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import type { BenchReport } from '../support/report.ts';
import { progress } from '../support/progress.ts';
import { summarise } from '../support/statistics.ts';
import { runBare } from './bare.ts';
import { BETWEEN, DOINGS, share, spansOf } from './spans.ts';
import { remoteFor, runTicket, TENANT, workspacesLeft, type BenchStack } from './stack.ts';

const DEADLINE_MS = 150_000;
const GONE_MS = 60_000;
/** "Under 60 s warm" (issue of the main job); the first round is the cold one. */
const GOAL_MS = 60_000;

export async function exampleTickets(on: BenchStack, rounds: number): Promise<BenchReport> {
  const ours: number[] = [];
  const gone: number[] = [];
  const bare: number[] = [];
  const shares = new Map<string, number[]>([...DOINGS, BETWEEN].map((name) => [name, []]));
  let commands = 0;
  const repository = await exampleRepository(on.stack.paths.examples);
  for (let round = 0; round <= rounds; round += 1) {
    const id = `E-${round}`;
    progress(round === 0 ? 'the example ticket, to warm up' : `the example ticket, ${round} of ${rounds}`);
    const definition = {
      ...(await readTicketFile(EXAMPLE_TICKET_FILE)),
      id,
      repository: { remote: await remoteFor(on.stack, repository, id) },
    };
    const began = performance.now();
    const { record, ms } = await runTicket(on.stack, definition, DEADLINE_MS);
    if (record.state.phase !== 'done') throw new Error(`${id} ended in ${record.state.phase}`);
    const left = await workspacesLeft(on, GONE_MS);
    if (left.length > 0) throw new Error(`not gone after ${id}: ${left.join(', ')}`);
    const goneMs = performance.now() - began;
    const alone = await runBare(on.stack, id);
    progress(
      `${id}: ${(ms / 1000).toFixed(1)} s; its ${alone.commands} commands alone ${(alone.ms / 1000).toFixed(1)} s`,
    );
    if (round === 0) continue;
    ours.push(ms);
    gone.push(goneMs);
    bare.push(alone.ms);
    commands = alone.commands;
    const workflowId = ticketWorkflowId({ tenant: TENANT, ticket: id });
    const { startTime } = await on.temporal.workflow.getHandle(workflowId).describe();
    const done = record.state.history.findLast(({ to }) => to === 'done')?.at ?? Number.NaN;
    const of = share(await spansOf(on.temporal, workflowId), startTime.getTime(), done);
    for (const [name, spent] of of) shares.get(name)?.push(spent);
  }
  const whole = { name: 'example ticket, start to merged and documented', ms: summarise(ours) };
  const { median } = whole.ms;
  return {
    comparisons: [
      {
        name: `example ticket beside its ${commands} commands run bare`,
        ours: whole,
        peer: { name: 'sum of its commands, without anything around them', ms: summarise(bare) },
        ratio: summarise(ours.map((ms, index) => ms / (bare[index] ?? Number.NaN))),
      },
    ],
    timings: [
      { name: 'example ticket, to the last workspace gone', ms: summarise(gone) },
      ...[...shares].map(([name, spent]) => ({ name: `  of it: ${name}`, ms: summarise(spent) })),
    ],
    goals: [
      {
        goal: `the example ticket under ${GOAL_MS / 1000} s warm`,
        measured: `${(median / 1000).toFixed(1)} s`,
        met: median < GOAL_MS,
      },
    ],
    facts: { 'commands that the example ticket runs': commands },
  };
}
