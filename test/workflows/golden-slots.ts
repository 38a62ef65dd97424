/** The recorded paths of `slots`: messages of holders, in order, and what its view then shows. It never ends by itself. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { NO_SLOTS } from '../../policies/workspaces/slots.ts';
import { controlQueue } from '../../schemas/queues.ts';
import {
  SLOTS_QUERY,
  SLOTS_SIGNAL,
  type SlotsInput,
  type SlotsMessage,
  type SlotsView,
} from '../../schemas/workspace/slots.ts';
import { pollUntil } from '../support/poll.ts';

export interface SlotsPath {
  readonly name: string;
  /** Name of the run that follows when this one continues as new. */
  readonly then?: string;
  /** What came in before it runs. */
  readonly inbox?: readonly SlotsMessage[];
  /** Each is sent when the one before has been dealt with. */
  readonly messages: readonly SlotsMessage[];
  readonly shows: (view: SlotsView) => boolean;
}

/** Open workflows of that name hear their grant; `gone` has none. */
const HOLDERS = ['first', 'second', 'third', 'fourth'] as const;
const holder = (name: (typeof HOLDERS)[number] | 'gone') => `golden-holder-${name}`;
const request = (name: Parameters<typeof holder>[0]): SlotsMessage => ({
  kind: 'request',
  holder: holder(name),
  capacity: 1,
});
const holds = (name: (typeof HOLDERS)[number]) => (view: SlotsView) =>
  view.holders.some((one) => one.holder === holder(name));

/** More than one run takes. Short names keep the file small. */
const NOISE: readonly SlotsMessage[] = Array.from({ length: 1_000 }, () => ({ kind: 'working', holder: 'x' }));

export const SLOTS_PATHS: readonly SlotsPath[] = [
  {
    name: 'leased-queued-freed',
    messages: [
      request('first'),
      { kind: 'recorded', holder: holder('first') },
      { kind: 'working', holder: holder('first') },
      request('second'),
      request('third'),
      { kind: 'suspended', holder: holder('first') },
      { kind: 'release', holder: holder('first'), because: 'never_recorded' },
      { kind: 'release', holder: holder('first'), because: 'gone' },
      { kind: 'release', holder: holder('second'), because: 'never_recorded' },
    ],
    shows: holds('third'),
  },
  {
    name: 'quarantined-until-resolved',
    messages: [
      ...(['first', 'second', 'third'] as const).flatMap((name): SlotsMessage[] => [
        { kind: 'held', holder: holder(name), capacity: 1 },
        { kind: 'quarantine', holder: holder(name) },
      ]),
      request('fourth'),
      { kind: 'resolved', holder: holder('second') },
    ],
    shows: holds('fourth'),
  },
  { name: 'holder-closed', messages: [request('gone'), request('first')], shows: holds('first') },
  {
    name: 'continued',
    then: 'carried',
    inbox: [{ kind: 'held', holder: holder('first'), capacity: 1 }, ...NOISE],
    messages: [request('second'), { kind: 'release', holder: holder('first'), because: 'gone' }],
    shows: holds('second'),
  },
];

/** Plays one path; `record` gets the workflow, which then has ended. */
export async function playSlots(
  { client, tenant }: { readonly client: Client; readonly tenant: string },
  path: SlotsPath,
  record: (handle: WorkflowHandle) => Promise<void>,
): Promise<void> {
  const taskQueue = controlQueue(tenant);
  const input = (inbox: readonly SlotsMessage[]): SlotsInput => ({ tenant, role: 'lore', state: NO_SLOTS, inbox });
  const start = (workflowId: string, inbox: readonly SlotsMessage[] = []) =>
    client.workflow.start('slots', { taskQueue, workflowId, args: [input(inbox)] });
  // Any workflow that stays open can be told its grant.
  const holders = await Promise.all(HOLDERS.map((name) => start(holder(name))));
  const workflowId = `golden-slots-${path.name}`;
  const first = await start(workflowId, path.inbox);
  const handle = client.workflow.getHandle(workflowId);
  try {
    if (path.then !== undefined) {
      const runId = async () => (await handle.describe()).runId;
      await pollUntil(async () => (await runId()) !== first.firstExecutionRunId, { what: 'a new run' });
    }
    for (const message of path.messages) {
      await handle.signal(SLOTS_SIGNAL, message);
      await untilIdle(handle);
    }
    await pollUntil(async () => path.shows(await handle.query<SlotsView>(SLOTS_QUERY)), { what: `slots ${path.name}` });
    await untilIdle(handle);
  } finally {
    await Promise.all([handle, ...holders].map((one) => one.terminate('it is recorded')));
  }
  await record(handle);
}

/** Until the last thing that its history has to say is a finished workflow task. */
async function untilIdle(handle: WorkflowHandle): Promise<void> {
  const isIdle = async () => {
    const { events } = await handle.fetchHistory();
    const last = events?.at(-1);
    return (
      last?.workflowTaskCompletedEventAttributes != null ||
      last?.markerRecordedEventAttributes != null ||
      last?.upsertWorkflowSearchAttributesEventAttributes != null
    );
  };
  await pollUntil(isIdle, { what: 'the slots to be idle', deadlineMs: 20_000 });
}
