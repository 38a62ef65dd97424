/** The workflow `gate` with the real gate worker over the real store, and the Schedule's `anchor`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, ScheduleOverlapPolicy, WorkflowFailedError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { anchorText } from '../../policies/audit/walk.ts';
import { auditWriter } from '../../activities/audit/write.ts';
import { isGenuine } from '../../activities/gate/signed-decision.ts';
import { loadSigningKey, verifyText, verifyingKeyOf } from '../../activities/signing/keys.ts';
import {
  ANCHOR_EVERY,
  GATE_WORKFLOWS,
  type AnchorOutcome,
  type GateInput,
  type GateOutcome,
} from '../../schemas/gate/workflow.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { anchorWorkflowId, gateWorkflowId } from '../../schemas/workflow-ids.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';
import { startGateWorker, type RunningGateWorker } from '../../workers/gate/main.ts';
import { runWorkers, type RunningWorkers } from '../../workers/run-workers.ts';
import { stagedSubject, TENANT, useGateStage, type StagedSubject } from '../support/gate-stage.ts';
import { pollUntil } from '../support/poll.ts';

const stage = useGateStage();
let root: string;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let gateWorker: RunningGateWorker;
let control: RunningWorkers;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-gate-'));
  const address = inject('temporalAddress');
  const { url, passwords } = stage().server;
  const [opened, openedNative, workflowBundle, started] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
    bundleWorkflows(),
    startGateWorker({
      tenants: [TENANT],
      temporalAddress: address,
      namespace: 'default',
      store: { url, password: passwords.gate },
      gateKeyFile: join(root, 'gate.pem'),
    }),
  ]);
  [connection, native, gateWorker] = [opened, openedNative, started];
  client = new Client({ connection });
  control = runWorkers([await Worker.create({ connection: native, taskQueue: controlQueue(TENANT), workflowBundle })]);
});
afterAll(async () => {
  await Promise.all([control.close(), gateWorker.close()]);
  await Promise.all([connection.close(), native.close()]);
  rmSync(root, { recursive: true, force: true });
});

async function start({ world, digest }: StagedSubject, n = 1) {
  const run = { tenant: TENANT, kind: world.gate, subjectDigest: digest, n };
  return client.workflow.start<(input: GateInput) => Promise<GateOutcome>>(GATE_WORKFLOWS.gate, {
    taskQueue: controlQueue(TENANT),
    workflowId: gateWorkflowId(run),
    args: [run],
  });
}

test('[inv-01] an evaluation is written by the gate worker with its own key; its workflow only says where', async () => {
  const { needs } = stage();
  const subject = await (await stagedSubject(stage())).passing(stage());
  const handle = await start(subject);
  const outcome = await handle.result();
  expect(outcome).toMatchObject({ decision: 'pass', reasons: [], reasonsOmitted: 0 });
  const signed = await needs.evidence.readDecision(TENANT, outcome.evaluationKey);
  const key = verifyingKeyOf(await loadSigningKey(join(root, 'gate.pem')));
  expect(signed?.digest).toBe(outcome.decisionDigest);
  expect(signed !== null && isGenuine(signed, [key])).toBe(true);
  const { typedSearchAttributes: shown } = await handle.describe();
  expect(shown.get(SEARCH_ATTRIBUTES.subjectDigest)).toBe(subject.digest);
  expect(shown.get(SEARCH_ATTRIBUTES.phase)).toBe('pass');
  expect(shown.get(SEARCH_ATTRIBUTES.waitingOn)).toBe('nothing');
});

test('[inv-07] a gate that cannot decide fails by name and decides nothing', async () => {
  const subject = await stagedSubject(stage());
  const { auditor } = stage();
  await auditor.del(`ns:${TENANT}:subject:${subject.digest.slice('sha256:'.length)}`);
  const thrown: unknown = await (await start(subject)).result().catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(WorkflowFailedError);
  expect(thrown).toMatchObject({ cause: { cause: { type: 'not_found' } } });
});

test('the audit chain is anchored when it grew by a hundred entries, and each round hands the newest anchor on', async () => {
  const { control: store, needs } = stage();
  const grow = async (by: number) => {
    for (let made = 0; made < by; made += 1) {
      await store.appendAudit(TENANT, auditWriter(TENANT, needs.actionKey, 'verify_ended', { task: String(made) }));
    }
  };
  const id = anchorWorkflowId(TENANT);
  const schedule = await client.schedule.create({
    scheduleId: id,
    spec: { intervals: [{ every: '1h' }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
    action: {
      type: 'startWorkflow',
      workflowType: GATE_WORKFLOWS.anchor,
      workflowId: id,
      taskQueue: controlQueue(TENANT),
      args: [{ tenant: TENANT }],
    },
  });
  try {
    const round = async (n: number): Promise<AnchorOutcome> => {
      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
      const ended = await pollUntil(
        async () => {
          const { recentActions, runningActions } = (await schedule.describe()).info;
          return runningActions.length === 0 && recentActions.length === n ? recentActions.at(-1) : null;
        },
        { what: `round ${n} of the anchor` },
      );
      const { workflowId, firstExecutionRunId } = ended.action.workflow;
      return client.workflow.getHandle<() => Promise<AnchorOutcome>>(workflowId, firstExecutionRunId).result();
    };
    await grow(ANCHOR_EVERY);
    const first = await round(1);
    const key = verifyingKeyOf(await loadSigningKey(join(root, 'gate.pem')));
    if (first.anchor === null) throw new Error('the first round anchored nothing');
    expect(verifyText(key, anchorText(TENANT, first.anchor.head), first.anchor.signature)).toBe(true);
    expect(first.anchor.head).toEqual(await store.readAuditHead(TENANT));
    await grow(ANCHOR_EVERY - 1);
    expect(await round(2)).toEqual(first);
    await grow(1);
    expect((await round(3)).anchor?.head.n).toBe(first.anchor.head.n + ANCHOR_EVERY);
  } finally {
    await schedule.delete();
  }
});
