/** What must hold of a ticket that ended, whatever was killed on its way; each answers what is wrong, nothing when all is well. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { isTerminalTaskState } from '../../schemas/verify/task.ts';
import { slotsWorkflowId } from '../../schemas/workflow-ids.ts';
import { SLOTS_QUERY, type SlotsView } from '../../schemas/workspace/slots.ts';
import { WORKSPACE_ROLES } from '../../schemas/workspace/workflow.ts';
import { landedSubjects, mainOf, untilGone } from '../e2e/tickets.ts';
import type { Stack } from '../e2e/stage.ts';
import { pollUntil } from '../support/poll.ts';
import { leftOf } from './inside.ts';
import type { TicketRun } from './ticket-run.ts';

const TENANT = 'local';

export async function faultsOf(stack: Stack, temporal: Client, run: TicketRun): Promise<readonly string[]> {
  const { id } = run.ticket;
  const found = [
    ...(await landingFaults(run)),
    ...(await workspaceFaults(stack, id)),
    ...(await slotFaults(temporal, id)),
    ...(await decisionFaults(stack, run)),
    ...(await taskFaults(stack, id)),
    ...(await openWorkflows(temporal, id)),
  ];
  return found.map((fault) => `${id}: ${fault}`);
}

/** Exactly the judged candidate and the documentation on it, each once, and nothing else. */
async function landingFaults({ ticket, state }: TicketRun): Promise<readonly string[]> {
  const { merge, candidate } = state;
  if (merge?.state !== 'landed') return ['it did not land'];
  const [documented, landed, base] = mainOf(ticket.remote);
  const subjects = await landedSubjects(ticket.remote);
  const own = subjects.filter((subject) => !BEFORE.includes(subject));
  return [
    ...(landed === merge.candidate ? [] : [`${landed ?? 'nothing'} landed, ${merge.candidate} was judged`]),
    ...(candidate?.base === base ? [] : ['what landed does not lie on the base that was judged']),
    ...(documented === landed ? ['its documentation did not land'] : []),
    ...(own.length === 2 ? [] : [`it landed ${own.length} commits: ${own.join('; ')}`]),
  ];
}

/** Of the example's repository before any ticket. */
const BEFORE = ['Test the token bucket', 'Add a token bucket'];

async function workspaceFaults(stack: Stack, id: string): Promise<readonly string[]> {
  const made = await untilGone(stack, id).catch((thrown: unknown) => String(thrown));
  const left = await leftOf(TENANT, id);
  const { items } = await stack.operator.listIncidents({ limit: 500 });
  const incidents = items.filter(({ ticket }) => ticket === id);
  return [
    ...(typeof made === 'string' ? [made] : []),
    ...left.map((line) => `still runs: ${line}`),
    ...computeOf(stack, id).map((run) => `its compute is there: ${run}`),
    ...incidents.map((incident) => `an incident: ${incident.id}`),
  ];
}

function computeOf(stack: Stack, id: string): readonly string[] {
  const root = join(stack.paths.compute, 'compute');
  return readdirSync(root).flatMap((name) => {
    try {
      const record: unknown = JSON.parse(readFileSync(join(root, name, 'compute.json'), 'utf8'));
      const run: unknown = Reflect.get(Object(record), 'run');
      return typeof run === 'string' && run.includes(`/${id}/`) ? [run] : [];
    } catch {
      return [];
    }
  });
}

/** Nobody of an ended ticket holds a slot, waits for one, or is quarantined. */
async function slotFaults(temporal: Client, id: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const role of WORKSPACE_ROLES) {
    const handle = temporal.workflow.getHandle(slotsWorkflowId({ tenant: TENANT, role }));
    const holds = async () => {
      const view = await handle.query<SlotsView>(SLOTS_QUERY);
      const all = [...view.holders, ...view.waiting, ...view.quarantined];
      return all.filter(({ holder }) => holder.includes(`/${id}/`));
    };
    await pollUntil(async () => (await holds()).length === 0, {
      what: `the slots of ${role} to be free`,
      everyMs: 100,
      deadlineMs: 20_000,
    }).catch(async () => {
      faults.push(`slots of ${role}: ${JSON.stringify(await holds())}`);
    });
  }
  return faults;
}

/** Every decision can be read and is genuine, every record behind it is there, and the pass that landed still stands. */
async function decisionFaults(stack: Stack, { ticket, state }: TicketRun): Promise<readonly string[]> {
  const { items } = await stack.operator.gateHistory(ticket.id);
  const faults: string[] = [];
  for (const { gate, evaluationKey, decision } of items) {
    if (evaluationKey === null) continue;
    if (decision === null) faults.push(`the ${gate} decision ${evaluationKey} cannot be read`);
    const { evidence, standing } = await stack.operator.showGate(evaluationKey);
    const lost = evidence.filter(({ kind }) => kind === 'unreadable');
    if (lost.length > 0) faults.push(`evidence of the ${gate} gate is lost: ${lost.map(({ about }) => about).join()}`);
    const broken = standing.moved.filter((why) => WRONG.some((wrong) => wrong === why));
    if (broken.length > 0) faults.push(`the ${gate} decision does not hold: ${broken.join()}`);
    if (evaluationKey === state.merge?.evaluationKey && !standing.authorises) {
      faults.push(`the pass that landed does not stand: ${standing.moved.join()}`);
    }
  }
  const passed = items.filter(({ decision }) => decision === 'pass').map(({ gate }) => gate);
  const lacking = ['plan', 'segment', 'merge', 'operation'].filter((gate) => !passed.some((one) => one === gate));
  return [...faults, ...lacking.map((gate) => `it passed no ${gate} gate`)];
}

/** What never happens to a decision by itself; that its execution or its subject moved on does. */
const WRONG = ['evidence_tampered', 'contradicted', 'revoked'] as const;

async function taskFaults(stack: Stack, id: string): Promise<readonly string[]> {
  const { items } = await stack.operator.listTasks({ pair: id, limit: 100 });
  return items
    .filter(({ state }) => !isTerminalTaskState(state))
    .map(({ taskId, state }) => `task ${taskId} is ${state}`);
}

/** Visibility lags, so this waits. */
async function openWorkflows(temporal: Client, id: string): Promise<readonly string[]> {
  const open = async () => {
    const ids: string[] = [];
    const listed = temporal.workflow.list({ query: `TicketId = '${id}' AND ExecutionStatus = 'Running'` });
    for await (const { workflowId } of listed) ids.push(workflowId);
    return ids;
  };
  try {
    await pollUntil(async () => (await open()).length === 0, { what: 'no workflow', deadlineMs: 30_000, everyMs: 250 });
    return [];
  } catch {
    return (await open()).map((workflowId) => `${workflowId} still runs`);
  }
}
