/**
 * Plays the golden paths on servers of its own and writes their histories to `test/histories/`. Run by hand, when a path is new or
 * its commands changed on purpose: `npm run record-histories [-- NAME…]`, where a name is a workflow (`ticket`), a path
 * (`abandoned`) or both (`ticket/abandoned`). Without a name it records all, and files of paths that are no more are removed.
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { startDevServer } from '../test/support/dev-server.ts';
import { GOLDEN_PATHS } from '../test/workflows/golden.ts';
import { CONTROL_PATHS, standIns, type ControlPath } from '../test/workflows/golden-control.ts';
import { goldenNames, HISTORIES, namesOf } from '../test/workflows/golden-files.ts';
import { GATE_PATHS, playGate } from '../test/workflows/golden-gate.ts';
import { playSlots, SLOTS_PATHS } from '../test/workflows/golden-slots.ts';
import { TICKET_PATHS } from '../test/workflows/golden-ticket.ts';
import { VERIFICATION_PATHS } from '../test/workflows/golden-verification.ts';
import { playWorkspace, WORKSPACE_PATHS, type WorkspacePath } from '../test/workflows/golden-workspace.ts';
import { historyText } from '../test/workflows/history-file.ts';
import { play, type Theatre } from '../test/workflows/stage.ts';
import { bundleTicket, playTicket } from '../test/workflows/ticket-stage.ts';
import { bundleVerification, playVerification } from '../test/workflows/verification-stage.ts';
import {
  openStage,
  openTimeSkippingStage,
  play as playOnStage,
  type Stage,
} from '../test/workflows/workspace-stage.ts';
import { activityFailures } from '../workers/activity-failures.ts';
import { bundleWorkflows } from '../workers/control/workflow-bundle.ts';

/** Workflows whose histories are long. */
const LONG: ReadonlySet<string> = new Set(['ticket', 'verification', 'workspace', 'destroyWorkspace', 'slots']);
/** Longer than any path takes on a busy machine. */
const PATIENCE_MS = 120_000;

const chosen = process.argv.slice(2);

/** The paths of a workflow that were asked for. */
function wanted<P extends { readonly name: string }>(
  paths: readonly P[],
  workflowOf: (path: P) => string,
): readonly P[] {
  const isChosen = (path: P) =>
    chosen.length === 0 ||
    [workflowOf(path), path.name, `${workflowOf(path)}/${path.name}`].some((name) => chosen.includes(name));
  return paths.filter(isChosen);
}

Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF', forward: {} } } });
const began = performance.now();
let bytes = 0;
let files = 0;
const server = await startDevServer();
const [native, connection, workflowBundle] = await Promise.all([
  NativeConnection.connect({ address: server.address }),
  Connection.connect({ address: server.address }),
  bundleWorkflows(),
]);
const theatre: Theatre = { client: new Client({ connection }), connection: native, workflowBundle };
try {
  for (const { name, script, meanwhile } of wanted(GOLDEN_PATHS, () => 'verify')) {
    await play(theatre, name, script, async (staged) => {
      await meanwhile?.(staged);
      await record('verify', [name], staged.handle);
    });
  }
  for (const path of wanted(GATE_PATHS, ({ workflow }) => workflow)) {
    await playGate(theatre, path, (handle) => record(path.workflow, [path.name], handle));
  }
  for (const path of wanted(CONTROL_PATHS, ({ workflow }) => workflow)) await playControl(path);
  await recordTickets();
  await recordVerifications();
  await recordWorkspaces();
  if (chosen.length === 0) await removeOthers();
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.error(`${files} histories, ${(bytes / 1024).toFixed(0)} KiB, in ${seconds} s`);
} finally {
  await Promise.all([native.close(), connection.close()]);
  await server.close();
}

async function playControl(path: ControlPath): Promise<void> {
  const taskQueue = `golden-${path.workflow}-${path.name}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle,
    activities: { ...standIns(path) },
    interceptors: { activity: [activityFailures] },
  });
  await worker.runUntil(async () => {
    const options = { taskQueue, workflowId: taskQueue, args: [path.input] };
    await record(path.workflow, [path.name], await theatre.client.workflow.start(path.workflow, options));
  });
}

async function recordTickets(): Promise<void> {
  const paths = wanted(TICKET_PATHS, () => 'ticket');
  if (paths.length === 0) return;
  const staged = { ...theatre, workflowBundle: await bundleTicket() };
  for (const path of paths) {
    await playTicket(staged, `golden-${path.name}`, path.script, async (on) => {
      await path.meanwhile?.(on);
      await record('ticket', namesOf(path), on.handle);
    });
  }
}

async function recordVerifications(): Promise<void> {
  const paths = wanted(VERIFICATION_PATHS, () => 'verification');
  if (paths.length === 0) return;
  const staged = { ...theatre, workflowBundle: await bundleVerification() };
  for (const { name, script, meanwhile } of paths) {
    await playVerification(staged, name, script, async (on) => {
      await meanwhile?.(on);
      await record('verification', [name], on.handle);
    });
  }
}

/** Workspaces and slots. What takes minutes is played where time is skipped; a cancel is played where it is not. */
async function recordWorkspaces(): Promise<void> {
  const workspaces = wanted(WORKSPACE_PATHS, ({ workflow }) => workflow);
  const slots = wanted(SLOTS_PATHS, () => 'slots');
  const onStage = (open: () => Promise<Stage>, paths: readonly WorkspacePath[], more: (on: Stage) => Promise<void>) =>
    within(open, async (on) => {
      for (const path of paths) {
        const act: Parameters<typeof playWorkspace>[0] = (ticket, script, acting) =>
          playOnStage(on, ticket, script, acting);
        await playWorkspace(act, on, path, (handle) => record(path.workflow, [path.name], handle));
      }
      await more(on);
    });
  const real = workspaces.filter(({ skipping }) => skipping !== true);
  if (real.length + slots.length > 0) {
    await onStage(
      () => openStage(server.address, 'golden'),
      real,
      async (on) => {
        for (const path of slots) await playSlots(on, path, (handle) => record('slots', namesOf(path), handle));
      },
    );
  }
  const skipping = workspaces.filter(({ skipping: skips }) => skips === true);
  if (skipping.length > 0) await onStage(openTimeSkippingStage, skipping, () => Promise.resolve());
}

async function within(open: () => Promise<Stage>, act: (on: Stage) => Promise<void>): Promise<void> {
  const on = await open();
  try {
    await act(on);
  } finally {
    await on.close();
  }
}

/** Writes the runs of a workflow that has ended or will, each under its name, from the first one on. */
async function record(workflow: string, names: readonly string[], handle: WorkflowHandle): Promise<void> {
  await untilEnded(`${workflow}/${names.join()}`, handle);
  const { client } = handle;
  let runId: string | null = (await handle.describe()).raw.workflowExecutionInfo?.firstRunId ?? null;
  for (const name of names) {
    if (runId === null) throw new Error(`${workflow}/${name}: there is no such run`);
    const history = await client.getHandle(handle.workflowId, runId).fetchHistory();
    const text = historyText(history, handle.workflowId, LONG.has(workflow) ? 'left out' : 'kept');
    const file = join(HISTORIES, workflow, `${name}.json`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    const { size } = await stat(file);
    bytes += size;
    files += 1;
    console.error(
      `recorded ${workflow}/${name} (${history.events?.length ?? 0} events, ${(size / 1024).toFixed(1)} KiB)`,
    );
    const next = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    runId = next ?? null;
  }
  if (runId !== null && names.length === 1) throw new Error(`${workflow}/${names.join()} continues as new`);
}

/** Some of the paths end in a failure of the workflow on purpose: the history is what is wanted. */
async function untilEnded(name: string, handle: WorkflowHandle): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not end`)), PATIENCE_MS);
  });
  await Promise.race([handle.result().catch(() => {}), late]).finally(() => clearTimeout(timer));
}

async function removeOthers(): Promise<void> {
  const names = new Set(goldenNames().map((name) => `${name}.json`));
  for (const file of await readdir(HISTORIES, { recursive: true })) {
    if (file.endsWith('.json') && !names.has(file)) await rm(join(HISTORIES, file));
  }
}
