import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure, type TypedSearchAttributes } from '@temporalio/common';
import protoUtils from '@temporalio/common/lib/proto-utils.js';
import { Context } from '@temporalio/activity';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { untilCancelled, untilPhase, untilRunning } from './golden.ts';
import { infrastructure, play, type Script, type Staged, type Theatre } from './stage.ts';

let theatre: Theatre;
let connection: Connection;

beforeAll(async () => {
  const address = inject('temporalAddress');
  connection = await Connection.connect({ address });
  const [native, workflowBundle] = await Promise.all([NativeConnection.connect({ address }), bundleWorkflows()]);
  const cached = process.env['PORTCULLIS_TEST_MAX_CACHED_WORKFLOWS'];
  theatre = {
    client: new Client({ connection }),
    connection: native,
    workflowBundle,
    ...(cached === undefined ? {} : { maxCachedWorkflows: Number(cached) }),
  };
});
afterAll(async () => {
  await theatre.connection.close();
  await connection.close();
});

/** The activities that a history schedules: options as they are, inputs decoded, without what every run has of its own. */
function scheduledActivities(history: unknown): unknown[] {
  const { events } = history as { events: { activityTaskScheduledEventAttributes?: Record<string, unknown> }[] };
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    if (scheduled === undefined) return [];
    const { workflowTaskCompletedEventId, input, ...options } = scheduled;
    const payloads = (input as { payloads: { data: string }[] }).payloads;
    const inputs = payloads.map(
      ({ data }) =>
        JSON.parse(Buffer.from(data, 'base64').toString('utf8'), (key, value: unknown) =>
          key === 'observed_at' ? 0 : value,
        ) as unknown,
    );
    return [{ options, inputs }];
  });
}

// Replay does not notice changed inputs, options or time-outs of activities: a fresh run is compared with the recorded one.
test.concurrent('[inv-20] the activities of a run are scheduled with the recorded inputs and options', async () => {
  const fresh = await play(theatre, 'satisfied', {}, async ({ handle }) => {
    await handle.result();
    return JSON.parse(protoUtils.historyToJSON(await handle.fetchHistory())) as unknown;
  });
  const recorded: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '../histories/verify/satisfied.json'), 'utf8'),
  );
  expect(scheduledActivities(fresh)).toEqual(scheduledActivities(recorded));
  expect(scheduledActivities(fresh)).toHaveLength(2);
});

/** The persisted result of a run that is left to itself. */
async function resultOf(
  pair: string,
  script: Script,
  meanwhile?: (staged: Staged) => Promise<void>,
): Promise<VerifyResult> {
  return await play(theatre, pair, script, async (staged) => {
    await meanwhile?.(staged);
    await staged.handle.result().catch((thrown: unknown) => {
      if (!(thrown instanceof WorkflowFailedError && thrown.cause instanceof CancelledFailure)) throw thrown;
    });
    expect(staged.endings).toHaveLength(1);
    return staged.endings[0]!.result;
  });
}

test.concurrent('a run that passes is persisted before the workflow says so', async () => {
  const result = await resultOf('passes', {});
  expect(result).toMatchObject({ status: 'completed', satisfied: true, reasons: [], attestation: 'verifier' });
});

test.concurrent('tests that fail are a result, not a failure of the run', async () => {
  const tests = { executed: 3, passed: 2, failed: 1, skipped: 0, provenance: 'reporter_file' } as const;
  const result = await resultOf('fails', { run: () => Promise.resolve(executorReport({ exit_code: 1, tests })) });
  expect(result).toMatchObject({ status: 'completed', satisfied: false, reasons: ['exit_code', 'tests_failed'] });
});

test.concurrent('[inv-07] a time-out never satisfies, whatever the exit code', async () => {
  const result = await resultOf('times-out', { run: () => Promise.resolve(executorReport({ outcome: 'timed_out' })) });
  expect(result).toMatchObject({ status: 'timed_out', timed_out: true, satisfied: false });
});

test.concurrent(
  '[inv-07] a report of another argv than the signed one, or of a weaker sandbox, satisfies nothing',
  async () => {
    const report = executorReport({
      argv_executed: ['node', '-e', '0'],
      sandbox: { containment: 'process-group', network: 'host', limits: {} },
    });
    const result = await resultOf('differs', { run: () => Promise.resolve(report) });
    expect(result).toMatchObject({ status: 'completed', satisfied: false, reasons: ['containment', 'argv_differs'] });
  },
);

test.concurrent('[inv-07] an absent executor is unavailable at once, and nothing is dispatched', async () => {
  let ran = false;
  const script: Script = {
    turns: () => ({ kind: 'absent' }),
    run: () => ((ran = true), Promise.resolve(executorReport())),
  };
  const result = await resultOf('absent', script);
  expect(result).toMatchObject({ status: 'executor_unavailable', satisfied: false, tests: 'unknown' });
  expect(result.reasons).toContain('absent');
  expect(ran).toBe(false);
});

test.concurrent('presence that is not known yet is waited for, never taken as absent', async () => {
  const result = await resultOf('settles', { turns: (look) => ({ kind: look < 3 ? 'settling' : 'go' }) });
  expect(result.satisfied).toBe(true);
});

/** Waits until a run shows what it waits for; the search attributes it shows then. */
async function untilWaitingOn({ handle }: Staged, waitingOn: string, phase: string): Promise<TypedSearchAttributes> {
  return await pollUntil(
    async () => {
      const { typedSearchAttributes: seen } = await handle.describe();
      const shown = seen.get(SEARCH_ATTRIBUTES.waitingOn) === waitingOn && seen.get(SEARCH_ATTRIBUTES.phase) === phase;
      return shown && seen;
    },
    { what: `the search attributes WaitingOn ${waitingOn} and Phase ${phase}` },
  );
}

test.concurrent('[inv-16] a queued run shows its place before it waits, and runs when its turn comes', async () => {
  let free = false;
  const turns: Script['turns'] = () => (free ? { kind: 'go' } : { kind: 'queued', place: 2 });
  const result = await resultOf('queued', { turns }, async (staged) => {
    const shown = await untilWaitingOn(staged, 'executor', 'queued');
    expect(shown.get(SEARCH_ATTRIBUTES.state)).toBe('open');
    free = true;
    await staged.handle.signal('placeChanged');
  });
  expect(result.status).toBe('completed');
});

test.concurrent(
  '[inv-16] a run whose executor may be there shows that it waits for presence before it waits',
  async () => {
    let known = false;
    const turns: Script['turns'] = () => ({ kind: known ? 'go' : 'settling' });
    const result = await resultOf('waits-for-presence', { turns }, async (staged) => {
      const shown = await untilWaitingOn(staged, 'presence', 'queued');
      expect(shown.get(SEARCH_ATTRIBUTES.state)).toBe('open');
      known = true;
    });
    expect(result.status).toBe('completed');
  },
);

test.concurrent(
  '[inv-16] a run whose result is not kept shows that it waits for the store before it waits',
  async () => {
    let away = true;
    const keep = () => {
      if (away) throw portcullisError('store_unavailable', { reason: 'test' });
    };
    const result = await resultOf('waits-for-store', { keep }, async (staged) => {
      const shown = await untilWaitingOn(staged, 'store', 'completed_unpersisted');
      expect(shown.get(SEARCH_ATTRIBUTES.state)).toBe('open');
      away = false;
    });
    expect(result.status).toBe('completed');
  },
);

test.concurrent('[inv-07] an executor that does not take its turn is unavailable', async () => {
  const result = await resultOf('no-poller', { executor: false });
  expect(result).toMatchObject({ status: 'executor_unavailable' });
  expect(result.reasons).toContain('did_not_start');
});

test.concurrent('[inv-07] an executor that comes back without the run has lost it', async () => {
  const result = await resultOf('lost', { run: untilCancelled }, async (staged) => {
    await untilRunning(staged);
    await staged.handle.signal('executorLost');
  });
  expect(result).toMatchObject({ status: 'executor_lost', satisfied: false, exit_code: null });
});

test.concurrent('[inv-07] a cancelled run is cancelled only with the word of its executor', async () => {
  const result = await resultOf('cancelled', { run: untilCancelled }, async (staged) => {
    await untilRunning(staged);
    await staged.handle.cancel();
  });
  expect(result).toMatchObject({ status: 'cancelled', cancelled: true, satisfied: false, signal: 'SIGKILL' });
});

test.concurrent('[inv-13] a run that is cancelled in the queue still ends in the store', async () => {
  const result = await resultOf('cancelled-queued', { turns: () => ({ kind: 'queued', place: 1 }) }, async (staged) => {
    await untilPhase(staged, 'queued');
    await staged.handle.cancel();
  });
  expect(result).toMatchObject({ status: 'cancelled', stdout: null });
});

test.concurrent('a completion that wins against the cancel stays a completion', async () => {
  const script: Script = {
    run: async () => {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), 50);
      await context.cancelled.catch(() => {}).finally(() => clearInterval(beat));
      return executorReport();
    },
  };
  const result = await resultOf('races', script, async (staged) => {
    await untilRunning(staged);
    await staged.handle.cancel();
  });
  expect(result).toMatchObject({ status: 'completed', satisfied: true });
});

test.concurrent.each([
  ['sandbox_unavailable', 'failed_to_start'],
  ['prepare_failed', 'prepare_failed'],
  ['policy_mismatch', 'rejected'],
  ['signature_invalid', 'rejected'],
  ['executor_unavailable', 'executor_unavailable'],
  ['schema_invalid', 'executor_lost'],
  ['internal', 'executor_lost'],
] as const)('[inv-07] an executor that answers %s ends the run as %s', async (code, status) => {
  const result = await resultOf(`answers-${code}`, {
    run: () => {
      throw infrastructure(code);
    },
  });
  expect(result).toMatchObject({ status, satisfied: false, exit_code: null });
  expect(result.reasons).toContain(code);
});

test.concurrent('[inv-17] a commit that the control plane does not hold is never dispatched', async () => {
  const result = await resultOf('no-commit', { prepareFails: 'not_found', executor: false });
  expect(result).toMatchObject({ status: 'failed_to_start', satisfied: false });
  expect(result.reasons).toContain('not_found');
});

test.concurrent(
  '[inv-06] while the store is away the run is shown as unpersisted, and ends once it is kept',
  async () => {
    let away = true;
    const keep = () => {
      if (away) throw portcullisError('store_unavailable', { reason: 'test' });
    };
    const result = await resultOf('unpersisted', { keep }, async (staged) => {
      await untilPhase(staged, 'completed_unpersisted');
      expect((await staged.handle.describe()).status.name).toBe('RUNNING');
      away = false;
    });
    expect(result).toMatchObject({ status: 'completed', satisfied: true });
  },
);

test.concurrent('[inv-04] a run whose pair moved on satisfies nothing', async () => {
  const result = await resultOf('moved', { head: { execution: 'e2', generation: 2 } });
  expect(result).toMatchObject({ status: 'completed', satisfied: false, reasons: ['superseded'] });
});
