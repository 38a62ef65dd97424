/**
 * `slots`: one for each role of a tenant, for ever. It hears messages, applies them one by one to a pure reducer, tells those
 * who were granted, and shows who waits. It continues as new often and keeps everything.
 */
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { applySlots, idleSlots, isStopped, type SlotsEvent } from '../../policies/workspaces/slots.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import {
  SLOTS_QUERY,
  SLOTS_SIGNAL,
  type SlotsInput,
  type SlotsMessage,
  type SlotsView,
} from '../../schemas/workspace/slots.ts';
import { WORKSPACE_SIGNALS, type SlotPlace } from '../../schemas/workspace/workflow.ts';
import { STORE_RETRY } from '../workspace/options.ts';

const { projectSlots } = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);

const messageSignal = defineSignal<[SlotsMessage]>(SLOTS_SIGNAL);
const viewQuery = defineQuery<SlotsView>(SLOTS_QUERY);
const grantedSignal = defineSignal(WORKSPACE_SIGNALS.slotGranted);
const placeSignal = defineSignal<[SlotPlace]>(WORKSPACE_SIGNALS.slotPlace);

/** So many messages in one run keep its history short whatever the server suggests. */
const MESSAGES_A_RUN = 1_000;
/** Those near the front hear of each step; those further back when they moved by a tenth. */
const NEAR = 10;

export async function slots(input: SlotsInput): Promise<never> {
  const { tenant, role } = input;
  const inbox: SlotsEvent[] = [...input.inbox];
  const told = new Map<string, number>();
  let { state } = input;
  let heard = 0;
  const view = (): SlotsView => ({
    schema: 'portcullis/slots/v1',
    role,
    ...state,
    idle: idleSlots(state),
    stopped: isStopped(state),
  });
  setHandler(viewQuery, view);
  setHandler(messageSignal, (message) => void inbox.push(message));
  for (;;) {
    show(view(), tenant);
    await condition(() => inbox.length > 0);
    const granted: string[] = [];
    let changed = false;
    for (let event = inbox.shift(); event !== undefined; event = inbox.shift()) {
      const step = applySlots(state, event, Date.now());
      state = step.state;
      heard += 1;
      changed ||= step.effects.changed;
      granted.push(...step.effects.granted);
    }
    const lost = await tellGranted(granted);
    inbox.push(...lost);
    if (changed) {
      await tellPlaces(view(), told);
      await projectSlots(tenant, view());
    }
    const isLong = heard >= MESSAGES_A_RUN || workflowInfo().continueAsNewSuggested;
    // What came in while the holders were told is carried: a signal is never dropped.
    if (isLong) await continueAsNew<typeof slots>({ tenant, role, state, inbox: inbox.flatMap(asMessage) });
  }
}

/** Those who are closed and so cannot be told. */
async function tellGranted(holders: readonly string[]): Promise<readonly SlotsEvent[]> {
  const told = [...new Set(holders)].map(async (holder): Promise<readonly SlotsEvent[]> => {
    const heard = await tell(() => getExternalWorkflowHandle(holder).signal(grantedSignal));
    return heard ? [] : [{ kind: 'lost', holder }];
  });
  return (await Promise.all(told)).flat();
}

async function tellPlaces(view: SlotsView, told: Map<string, number>): Promise<void> {
  const waiting = view.waiting.length;
  const moved = view.waiting.flatMap(({ holder }, index) => {
    const place = index + 1;
    const before = told.get(holder);
    const isNews = before === undefined || (place <= NEAR ? before !== place : before - place >= before / 10);
    return isNews ? [{ holder, place }] : [];
  });
  for (const { holder, place } of moved) told.set(holder, place);
  const still = new Set(view.waiting.map(({ holder }) => holder));
  for (const holder of [...told.keys()]) if (!still.has(holder)) told.delete(holder);
  await Promise.all(
    moved.map(({ holder, place }) =>
      tell(() => getExternalWorkflowHandle(holder).signal(placeSignal, { place, waiting, stopped: view.stopped })),
    ),
  );
}

/** False when the holder is closed; its slot is then freed by whoever proves that it may be. */
async function tell(signal: () => Promise<void>): Promise<boolean> {
  try {
    await signal();
    return true;
  } catch {
    return false;
  }
}

/** A holder that was lost asks again by itself if it is there after all. */
function asMessage(event: SlotsEvent): readonly SlotsMessage[] {
  return event.kind === 'lost' ? [{ kind: 'release', holder: event.holder, because: 'never_recorded' }] : [event];
}

function show({ role, holders, waiting, quarantined, capacity, stopped }: SlotsView, tenant: string): void {
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
    { key: SEARCH_ATTRIBUTES.role, value: role },
    { key: SEARCH_ATTRIBUTES.phase, value: stopped ? 'stopped' : 'serving' },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: stopped ? 'operator' : 'messages' },
    { key: SEARCH_ATTRIBUTES.state, value: 'open' },
  ]);
  const line = (label: string, names: readonly string[]) =>
    `${label}: ${names.length === 0 ? 'none' : names.join(', ')}`;
  setCurrentDetails(
    [
      `**${role}: ${holders.length} of ${capacity} slots in use**`,
      line(
        'Holders',
        holders.map((one) => `${one.holder} (${one.state})`),
      ),
      line(
        'Waiting',
        waiting.slice(0, 20).map((one) => one.holder),
      ),
      line(
        'Quarantined',
        quarantined.map((one) => one.holder),
      ),
    ].join('\n\n'),
  );
}
