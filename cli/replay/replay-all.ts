/** Replays named histories on one worker, one after the other. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

export interface NamedHistory {
  readonly name: string;
  readonly history: History;
}

/** In the order given: why a history does not replay, `null` for one that does. */
export async function* replayAll(
  workflowBundle: WorkflowBundleOption,
  named: readonly NamedHistory[],
): AsyncGenerator<{ readonly name: string; readonly error: Error | null }> {
  // Some workflows read their own id, so it has to be the one that they ran under.
  const histories = named.map(({ name, history }) => ({ history, workflowId: workflowIdIn(history) ?? name }));
  let index = 0;
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    yield { name: named[index]?.name ?? '', error: error ?? null };
    index += 1;
  }
}

function workflowIdIn({ events }: History): string | null {
  const id = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  return id === undefined || id === '' ? null : id;
}
