/** What a ticket was doing at every moment, from the histories of its workflow and of the verifications that it started. */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import { GATE_WORKFLOWS } from '../../schemas/gate/workflow.ts';
import { VERIFICATION_WORKFLOW } from '../../schemas/verification/workflow.ts';
import { GATEWAY_WORKFLOWS } from '../../schemas/verify/workflow.ts';
import { WORKSPACE_SIGNALS, WORKSPACE_WORKFLOWS } from '../../schemas/workspace/workflow.ts';

/** In the order in which a moment is counted when two go on at once; what is none of them is a step between workflow and worker. */
export const DOINGS = [
  'delegated verification',
  'agents',
  'provisioning',
  'gates',
  'landing',
  'teardown',
  'git and records',
] as const;
export type Doing = (typeof DOINGS)[number];
export const BETWEEN = 'between steps';

export interface Span {
  readonly doing: Doing;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Spans of one workflow; those of the verifications among its children in place of theirs. */
export async function spansOf(client: Client, workflowId: string): Promise<readonly Span[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const open = new Map<string, { readonly doing: Doing; readonly from: number }>();
  const spans: Span[] = [];
  const verifications: string[] = [];
  const begin = (key: string, doing: Doing, at: number) => void open.set(key, { doing, from: at });
  const end = (key: string, at: number) => {
    const begun = open.get(key);
    if (begun === undefined) return;
    open.delete(key);
    spans.push({ ...begun, to: at });
  };
  for (const event of events ?? []) {
    const at = optionalTsToMs(event.eventTime) ?? 0;
    const { childStarted, childEnded, activityScheduled, activityEnded, told, heard } = partsOf(event);
    if (activityScheduled !== null) begin(`activity ${String(event.eventId)}`, doingOf(activityScheduled), at);
    if (activityEnded !== null) end(`activity ${activityEnded}`, at);
    if (childStarted?.type === VERIFICATION_WORKFLOW) verifications.push(childStarted.id);
    else if (childStarted !== null) {
      const doing = CHILDREN.get(childStarted.type);
      if (doing !== undefined) begin(`child ${childStarted.id}`, doing, at);
    }
    if (childEnded !== null) end(`child ${childEnded}`, at);
    if (told !== null) begin(`release ${told}`, 'teardown', at);
    if (heard?.signal === WORKSPACE_SIGNALS.ready) end(`child ${heard.run}`, at);
    if (heard?.signal === WORKSPACE_SIGNALS.ended)
      for (const key of ['child', 'release']) end(`${key} ${heard.run}`, at);
  }
  for (const id of verifications) spans.push(...(await spansOf(client, id)));
  return spans;
}

/** A workspace counts until it is ready: what it is used for has a name of its own. */
const CHILDREN: ReadonlyMap<string, Doing> = new Map([
  [WORKSPACE_WORKFLOWS.workspace, 'provisioning'],
  [GATE_WORKFLOWS.gate, 'gates'],
  [GATEWAY_WORKFLOWS.verify, 'delegated verification'],
]);

function doingOf(activity: string): Doing {
  if (activity === 'agentTurn') return 'agents';
  return activity === 'land' || activity === 'makeCandidate' ? 'landing' : 'git and records';
}

interface Parts {
  readonly activityScheduled: string | null;
  /** Number of the event that scheduled it. */
  readonly activityEnded: string | null;
  readonly childStarted: { readonly type: string; readonly id: string } | null;
  readonly childEnded: string | null;
  /** The workspace that was told to end. */
  readonly told: string | null;
  readonly heard: { readonly signal: string; readonly run: string } | null;
}

function partsOf(event: HistoryEvent): Parts {
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  const told = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
  const signal = event.workflowExecutionSignaledEventAttributes;
  const activityEnded =
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  const childEnded =
    event.childWorkflowExecutionCompletedEventAttributes ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes;
  const released = told?.signalName === WORKSPACE_SIGNALS.release ? told.workflowExecution?.workflowId : null;
  return {
    activityScheduled: event.activityTaskScheduledEventAttributes?.activityType?.name ?? null,
    activityEnded: activityEnded == null ? null : String(activityEnded.scheduledEventId),
    childStarted: child == null ? null : { type: child.workflowType?.name ?? '', id: child.workflowId ?? '' },
    childEnded: childEnded?.workflowExecution?.workflowId ?? null,
    told: released ?? null,
    heard:
      signal == null
        ? null
        : { signal: signal.signalName ?? '', run: runIn(signal.input?.payloads?.[0]?.data ?? new Uint8Array()) },
  };
}

/** Signals of a workspace name their run. */
function runIn(payload: Uint8Array): string {
  try {
    return String(Reflect.get(Object(JSON.parse(new TextDecoder().decode(payload))), 'run'));
  } catch {
    return '';
  }
}

/** Milliseconds of each doing between the two times, each moment counted once, and of what is none of them. */
export function share(spans: readonly Span[], from: number, to: number): ReadonlyMap<string, number> {
  const edges = [...new Set([from, to, ...spans.flatMap((span) => [span.from, span.to])])]
    .filter((at) => at >= from && at <= to)
    .toSorted((a, b) => a - b);
  const shares = new Map<string, number>([...DOINGS, BETWEEN].map((name) => [name, 0]));
  for (const [index, begin] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    const going = spans.filter((span) => span.from <= begin && span.to >= end).map(({ doing }) => doing);
    const counted = DOINGS.find((doing) => going.includes(doing)) ?? BETWEEN;
    shares.set(counted, (shares.get(counted) ?? 0) + end - begin);
  }
  return shares;
}
