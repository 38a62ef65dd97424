/**
 * One build, carried out: what Terraform would do, the faults that its parameters ask for, and the runtime that makes the
 * workspace real. Says how it ended; writing that down is the queue's.
 */
import { randomBytes } from 'node:crypto';
import { addAgent } from '../agents/agents.ts';
import type { LocalCoderContext } from '../context.ts';
import { type Faults, faultsOf } from '../faults.ts';
import type { BuildOutcome, BuildWatch } from '../runtime.ts';
import type { Build, Workspace } from '../state/records.ts';
import { type BuildLog, buildLog, STAGES } from './log-lines.ts';
import { RUN_PARAMETER } from '../../../schemas/coder/workspace.ts';

/** What Terraform's exit is called in `job.error`, cancelled or not. */
const FAILED: BuildOutcome = { outcome: 'failed', error: 'terraform apply: exit status 1' };
const SUCCEEDED: BuildOutcome = { outcome: 'succeeded' };

export async function runBuild(coder: LocalCoderContext, build: Build, signal: AbortSignal): Promise<BuildOutcome> {
  const workspace = coder.state.workspaces.get(build.workspaceId);
  if (workspace === undefined) return { outcome: 'failed', error: 'the workspace is not there' };
  const log = buildLog(coder, build);
  try {
    return await apply(coder, build, workspace, log, signal);
  } catch (error) {
    if (!signal.aborted) return { outcome: 'failed', error: error instanceof Error ? error.message : String(error) };
    log.line(STAGES[build.transition], 'Interrupt received. Gracefully shutting down...', 'warn');
    await coder.clock.sleep(coder.settings.interruptMs);
    return FAILED;
  } finally {
    log.stage(STAGES.cleanUp);
  }
}

async function apply(
  coder: LocalCoderContext,
  build: Build,
  workspace: Workspace,
  log: BuildLog,
  signal: AbortSignal,
): Promise<BuildOutcome> {
  const { clock, settings } = coder;
  const stage = STAGES[build.transition];
  log.stage(STAGES.setUp);
  log.line(STAGES.initialize, 'Initializing the backend...');
  await clock.sleep(settings.terraformMs / 2, signal);
  log.line(STAGES.plan, `Plan for ${build.transition} of ${workspace.name}`);
  // An orphan forgets its resources without a look at them.
  if (build.orphan) return SUCCEEDED;
  log.stage(stage);
  const parameters = Object.fromEntries(build.parameters.map(({ name, value }) => [name, value]));
  const faults = faultsOf(parameters);
  const changes = build.transition === 'start' ? !workspace.hasResources : workspace.hasResources;
  if (changes) {
    log.line(stage, `compute: ${build.transition === 'start' ? 'Creating...' : 'Destroying...'}`);
    await resourceTime(coder, build, workspace, parameters, faults, signal);
    if (faults.failOn === build.transition && !workspace.repaired) {
      log.line(stage, 'Error: local-exec provisioner error', 'error');
      log.line(stage, 'exit status 1. Output: simulated provision failure', 'error');
      await clock.sleep(settings.terraformMs / 4, signal);
      return FAILED;
    }
  }
  const watch: BuildWatch = { signal, log: ({ stage: at, level, text }) => log.line(at, text, level) };
  const outcome = await change(coder, build, workspace, parameters, faults, watch);
  if (outcome.outcome === 'failed') log.line(stage, `Error: ${outcome.error}`, 'error');
  if (outcome.outcome === 'failed' || signal.aborted) return signal.aborted ? FAILED : outcome;
  log.line(STAGES.graph, 'Graph of 1 resource');
  await clock.sleep(settings.terraformMs / 2, signal);
  return outcome;
}

async function resourceTime(
  coder: LocalCoderContext,
  build: Build,
  workspace: Workspace,
  parameters: Readonly<Record<string, string>>,
  faults: Faults,
  signal: AbortSignal,
): Promise<void> {
  try {
    await coder.clock.sleep(faults.buildMs, signal);
  } catch (error) {
    // The interrupt ends Terraform, not what it has launched.
    if (faults.leaksOnCancel && build.transition === 'start') {
      const watch: BuildWatch = { signal: new AbortController().signal, log: () => {} };
      await change(coder, build, workspace, parameters, faults, watch);
    }
    throw error;
  }
}

async function change(
  coder: LocalCoderContext,
  build: Build,
  workspace: Workspace,
  parameters: Readonly<Record<string, string>>,
  faults: Faults,
  watch: BuildWatch,
): Promise<BuildOutcome> {
  const { runtime, state } = coder;
  const run = parameters[RUN_PARAMETER] ?? '';
  if (build.transition !== 'start') {
    if (!workspace.hasResources) return SUCCEEDED;
    const end = { workspaceId: workspace.id, buildNumber: build.number, run };
    return build.transition === 'stop' ? runtime.stop(end, watch) : runtime.destroy(end, watch);
  }
  const agent = addAgent(coder, build, faults.startExit);
  return runtime.apply(
    {
      workspaceId: workspace.id,
      buildNumber: build.number,
      name: workspace.name,
      ownerName: state.users.get(workspace.ownerId)?.username ?? '',
      templateName: state.templates.get(workspace.templateId)?.name ?? '',
      parameters,
      run,
      agent: {
        id: agent.id,
        token: randomBytes(24).toString('base64url'),
        connects: faults.connects,
        startExit: faults.startExit,
        startDelayMs: 0,
      },
    },
    watch,
  );
}
