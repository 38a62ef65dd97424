/** `ticket trace`: one ticket from its issue to what landed and to the end of its workspaces, in the order in which it happened. */
import { STATE_LIMITS } from '../../schemas/ticket/state.ts';
import type { GateHistoryEntry } from '../../schemas/gate/operator-api.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import { isTerminal, type TicketPhase } from '../../schemas/ticket/phase.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration, table, type Output, type Style } from '../output.ts';
import { printable } from '../printable.ts';
import { phaseStyle } from './render.ts';

export interface TraceLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: 'ticket' | 'gate' | 'workspace';
  readonly what: string;
  readonly detail: string;
}

export interface TicketTrace {
  readonly ticket: string;
  readonly title: string;
  readonly issueUrl: string | null;
  readonly phase: TicketPhase;
  /** The commit that landed; `null` while nothing has. */
  readonly landed: string | null;
  /** Workspaces of it that are not proved gone. */
  readonly workspacesLeft: number;
  readonly items: readonly TraceLine[];
  /** What there is no record of any more, or too much for one look; empty when all is here. */
  readonly omitted: readonly string[];
}

/** What one call of the gateway lists at most. */
const MOST = 500;

/** @throws `not_found` */
export async function traceTicket(context: CliContext, id: string): Promise<number> {
  const operator = operatorClient(context);
  const { ticket } = await operator.getTicket(id);
  const [gates, workspaces] = await Promise.all([
    operator.gateHistory(id).catch(noneYet),
    operator.listWorkspaces({ limit: MOST }),
  ]);
  const omitted = [
    ...(gates.omitted > 0 ? [`${gates.omitted} older decisions`] : []),
    ...(workspaces.items.length >= MOST ? [`workspaces older than the newest ${MOST}`] : []),
    ...(ticket.state.history.length >= STATE_LIMITS.history ? ['the first transitions'] : []),
  ];
  const trace = traceOf(ticket, gates.items, workspaces.items, omitted);
  context.output.result('TicketTrace', { ...trace }, traceText(trace, context.output));
  return 0;
}

/** A ticket that nothing was decided about yet has no history of gates. */
function noneYet(thrown: unknown): { readonly items: readonly GateHistoryEntry[]; readonly omitted: number } {
  if (Reflect.get(Object(thrown), 'code') === 'not_found') return { items: [], omitted: 0 };
  throw thrown;
}

export function traceOf(
  { title, state }: TicketRecord,
  gates: readonly GateHistoryEntry[],
  workspaces: readonly WorkspaceRecord[],
  omitted: readonly string[],
): TicketTrace {
  const mine = workspaces.filter(({ ticket }) => ticket === state.ticketId);
  const lines: readonly TraceLine[] = [
    ...state.history.map(({ at, from, to, actor, detail }) => ({
      at,
      kind: 'ticket' as const,
      what: from === to ? to : `${from} → ${to}`,
      detail: [actor, detail].filter((text) => text !== '').join(': '),
    })),
    ...gates.flatMap(gateLine),
    ...mine.flatMap(workspaceLines),
  ];
  return {
    ticket: state.ticketId,
    title,
    issueUrl: state.issueUrl,
    phase: state.phase,
    landed: state.merge?.state === 'landed' ? state.merge.candidate : null,
    workspacesLeft: mine.filter(({ state: life }) => life !== 'gone').length,
    items: lines.toSorted((a, b) => a.at - b.at),
    omitted,
  };
}

function gateLine({
  asOf,
  gate,
  decision,
  applicability,
  first,
  evaluationKey,
}: GateHistoryEntry): readonly TraceLine[] {
  if (asOf === null || evaluationKey === null) return [];
  const reason = first === null ? '' : `${first.code} ${first.ref}, `;
  const detail = `${reason}${applicability ?? 'not known whether it applies'}, ${evaluationKey.slice(0, 19)}…`;
  return [{ at: asOf, kind: 'gate', what: `${gate} ${decision ?? 'unreadable'}`, detail }];
}

function workspaceLines(of: WorkspaceRecord): readonly TraceLine[] {
  const { id, role, purpose, startedAt, readyAt, endedAt, state, trigger, detail } = of;
  const line = (at: number, what: string, why: string) => ({
    at,
    kind: 'workspace' as const,
    what: `${role} ${what}`,
    detail: why,
  });
  return [
    line(startedAt, 'asked for', `${purpose}, ${id}`),
    ...(readyAt === null ? [] : [line(readyAt, 'ready', `after ${duration(readyAt - startedAt)}, ${id}`)]),
    ...(endedAt === null ? [] : [line(endedAt, state, `${trigger ?? detail}, ${id}`)]),
  ];
}

const KINDS = { ticket: 'strong', gate: 'warn', workspace: 'dim' } as const satisfies Record<TraceLine['kind'], Style>;

export function traceText(trace: TicketTrace, output: Output): string {
  const { ticket, title, issueUrl, phase, landed, workspacesLeft, items, omitted } = trace;
  const began = items[0]?.at ?? 0;
  const rows = items.map(({ at, kind, what, detail }) => [
    `+${((at - began) / 1000).toFixed(1)} s`,
    output.style(KINDS[kind], kind),
    what,
    detail,
  ]);
  const isOver = isTerminal(phase);
  return [
    `${ticket}: ${printable(title)}${issueUrl === null ? '' : ` (${issueUrl})`}`,
    ...(items.length === 0
      ? ['nothing has happened yet']
      : [`since ${new Date(began).toISOString()}`, '', table(rows), '']),
    `${isOver ? 'ended' : 'stands'} in ${output.style(phaseStyle(phase), phase)}; ${landed === null ? 'nothing landed' : `landed ${landed}`}; ${
      workspacesLeft === 0 ? 'every workspace is proved gone' : `${workspacesLeft} workspaces are not proved gone`
    }`,
    ...omitted.map((what) => `not here: ${what}`),
  ].join('\n');
}
