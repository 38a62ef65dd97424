/**
 * A stage for the verify workflow: the real workflow on a real Temporal server, with activities that a test scripts. They
 * stand in for the store, the repository and the executor; what is tested is the orchestration.
 */
import { ApplicationFailure } from '@temporalio/common';
import { type Client, type WorkflowHandle } from '@temporalio/client';
import { Worker, type NativeConnection, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { portcullisError, type ErrorCode } from '../../schemas/errors.ts';
import { controlQueue, executorQueue } from '../../schemas/queues.ts';
import type {
  ExecutorActivities,
  RunEnding,
  Turn,
  VerifyActivities,
  VerifyLocalActivities,
} from '../../schemas/verify/activities.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { VerifyInput, VerifyOutcome } from '../../schemas/verify/workflow.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { acceptedRequest, executorReport, preparedRun } from '../support/verify-fixture.ts';

export interface Script {
  readonly turns?: (look: number) => Turn;
  readonly prepareFails?: ErrorCode;
  readonly run?: ExecutorActivities['runCommand'];
  /** Whether an executor polls at all. */
  readonly executor?: boolean;
  /** Throws for as long as the store is away. */
  readonly keep?: (attempt: number) => void;
  readonly head?: { readonly execution: string; readonly generation: number } | null;
}

export interface Staged {
  readonly accepted: AcceptedRequest;
  readonly handle: WorkflowHandle<(input: VerifyInput) => Promise<VerifyOutcome>>;
  /** What was persisted, oldest first. */
  readonly endings: readonly RunEnding[];
}

export interface Theatre {
  readonly client: Client;
  readonly connection: NativeConnection;
  readonly workflowBundle: WorkflowBundleWithSourceMap;
  readonly maxCachedWorkflows?: number;
}

/** Plays one script to a test's own pair; workers stop when the play ends. */
export async function play<T>(
  theatre: Theatre,
  pair: string,
  script: Script,
  act: (staged: Staged) => Promise<T>,
): Promise<T> {
  const accepted = acceptedRequest(pair);
  const endings: RunEnding[] = [];
  const tenantQueue = `${controlQueue('test')}-${pair}`;
  const seat = { tenant: 'test', pair, role: 'verifier', workspaceGeneration: 1 } as const;
  const workers = [
    await Worker.create({
      connection: theatre.connection,
      taskQueue: tenantQueue,
      workflowBundle: theatre.workflowBundle,
      activities: { ...scripted(script, endings) },
      interceptors: { activity: [activityFailures] },
      ...(theatre.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: theatre.maxCachedWorkflows }),
    }),
  ];
  if (script.executor !== false) {
    workers.push(
      await Worker.create({
        connection: theatre.connection,
        taskQueue: executorQueue(seat),
        activities: { runCommand: script.run ?? (() => Promise.resolve(executorReport())) },
        interceptors: { activity: [activityFailures] },
        maxHeartbeatThrottleInterval: '200ms',
      }),
    );
  }
  const running = runWorkers(workers);
  try {
    const handle = await theatre.client.workflow.start<(input: VerifyInput) => Promise<VerifyOutcome>>('verify', {
      taskQueue: tenantQueue,
      workflowId: accepted.workflowId,
      args: [{ accepted, n: 1 }],
    });
    return await act({ accepted, handle, endings });
  } finally {
    await running.close();
  }
}

function scripted(script: Script, endings: RunEnding[]): VerifyLocalActivities & VerifyActivities {
  let looks = 0;
  let attempts = 0;
  return {
    prepareRun(accepted) {
      if (script.prepareFails !== undefined) throw portcullisError(script.prepareFails);
      return Promise.resolve(preparedRun(accepted));
    },
    takeTurn() {
      looks += 1;
      return Promise.resolve(script.turns?.(looks) ?? { kind: 'go' });
    },
    announcePhase: () => Promise.resolve(),
    currentHead(_, pair) {
      const head = script.head === undefined ? { execution: 'e1', generation: 1 } : script.head;
      if (head === null) return Promise.resolve(null);
      return Promise.resolve({
        schema: 'portcullis/pair-head/v1',
        pair,
        headSha: 'a'.repeat(40),
        baseSha: null,
        ...head,
      });
    },
    endRun(ending) {
      attempts += 1;
      script.keep?.(attempts);
      endings.push(ending);
      return Promise.resolve();
    },
  };
}

/** The failure with which a stand-in executor says that it could not run something. */
export function infrastructure(code: ErrorCode): ApplicationFailure {
  return ApplicationFailure.create({ message: code, type: code });
}
