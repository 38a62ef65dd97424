/**
 * One run, from a signed action to the report: admit, export, say that it starts, run it contained, hash what it made, report.
 * A failed test is a report; this throws only when the machinery around the command fails.
 */
import { join } from 'node:path';
import type { LoadedCommandPolicy } from '../../policies/commands/types.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { Action, SignedAction } from '../../schemas/verify/action.ts';
import type { PrepareStatement } from '../../schemas/verify/prepare.ts';
import type { ExecutorReport, RunOutcome } from '../../schemas/verify/report.ts';
import { WORKSPACE_PATHS, type RunStarted } from '../../schemas/workspace-api.ts';
import type { ContentDigest } from '../../schemas/digest.ts';
import { admitAction, type ExecutorIdentity } from './admit.ts';
import { exportCommit, type CommitSource, type ExportedTree } from './checkout.ts';
import type { ContainedEnding } from './contained-run.ts';
import { sandboxInForce } from './containment.ts';
import { copyWorktree } from './copy-worktree.ts';
import { lookAtWork, readCounts } from './findings.ts';
import type { GatewayClient } from './gateway-client.ts';
import { runLimited } from './limited-run.ts';
import { EMPTY_STREAM, openOutput } from './output.ts';
import { commitFiles } from './prepare/commit-files.ts';
import { prepareDependencies } from './prepare/prepare.ts';
import type { PreparedEnvironment, PrepareSettings } from './prepare/types.ts';
import type { SandboxProbe } from './probe.ts';
import { makeRunDirectory, type RunDirectory } from './run-directory.ts';
import { limitedCommand, sandboxOptions } from './sandbox.ts';
import { findTool, type Tool, type Toolchains } from './toolchains.ts';

/** Everything of an executor that a run needs. */
export interface ExecutorContext {
  readonly identity: ExecutorIdentity;
  readonly policy: LoadedCommandPolicy;
  readonly client: GatewayClient;
  readonly source: CommitSource;
  readonly probe: SandboxProbe;
  readonly toolchains: Toolchains;
  readonly toolchainDigest: (tools: readonly Tool[]) => Promise<ContentDigest>;
  readonly bootId: string;
  /** Parent of the runs' private directories. */
  readonly runs: string;
  readonly etc: string;
  readonly toolDirectory: string;
  readonly reporter: string;
  /** The producer's live tree for `cwd: worktree`; `null` where there is none. */
  readonly worktree: string | null;
  readonly prepare: PrepareSettings;
  readonly graceMs: number;
  readonly flushMs: number;
  /** How long output is kept for a gateway that does not take it. */
  readonly outputPatienceMs: number;
}

export interface RunCall {
  readonly workflowId: string;
  readonly cancellation: AbortSignal;
}

/** How long the gateway may take to note that a run starts before it is not started. */
const STARTED_PATIENCE_MS = 60_000;

/** @throws `gateway_unavailable`, `not_allowed` when the gateway does not take the start */
export async function runAction(
  context: ExecutorContext,
  signed: SignedAction,
  call: RunCall,
): Promise<ExecutorReport> {
  let action: Action;
  try {
    action = admitAction(signed, context.identity, context.policy, Date.now());
  } catch (error) {
    return notRun(context, signed.action, 'rejected', reasonOf(error));
  }
  const tool = findTool(context.toolchains, action.argvExecuted[0] ?? '');
  if (tool === null) {
    return notRun(
      context,
      action,
      'failed_to_start',
      `failed_to_start: ${action.argvExecuted[0] ?? ''} is not installed`,
    );
  }
  const directory = await makeRunDirectory(context.runs);
  try {
    return await runIn(directory, context, action, tool, call);
  } finally {
    await directory.remove();
  }
}

async function runIn(
  directory: RunDirectory,
  context: ExecutorContext,
  action: Action,
  tool: Tool,
  call: RunCall,
): Promise<ExecutorReport> {
  // First of all, so that whoever finds this executor gone knows that the run was its.
  await announceStart(context, action, call);
  let exported: ExportedTree | null;
  try {
    exported = await provideTree(directory, context, action, call.cancellation);
  } catch (error) {
    if (call.cancellation.aborted) return notRun(context, action, 'cancelled', 'cancelled before it started');
    return notRun(context, action, 'failed_to_start', reasonOf(error));
  }
  const preparation = await prepare(directory, context, action, exported, call.cancellation);
  if (preparation.kind === 'stop') {
    const { statement } = preparation;
    const report = (outcome: RunOutcome, reason: string) => notRun(context, action, outcome, reason);
    const cancelled = statement.outcome === 'cancelled';
    const why = portcullisError('prepare_failed', { reason: statement.reason });
    return cancelled
      ? { ...report('cancelled', statement.reason), prepare: statement }
      : { ...report('prepare_failed', reasonOf(why)), prepare: statement };
  }
  const { prepared } = preparation;
  const toolchain = { digest: await context.toolchainDigest([tool]) };
  const output = openOutput({
    client: context.client,
    task: action.taskId,
    keepBytes: action.limits.outputBytes,
    flushMs: context.flushMs,
    patienceMs: context.outputPatienceMs,
    counts: action.counts,
  });
  const { ending, crossed } = await runLimited(context.probe, action.limits, directory, {
    bwrap: context.probe.bwrap,
    mkfifo: context.probe.mkfifo,
    options: sandboxOptions(
      {
        work: directory.work,
        report: directory.report,
        etc: context.etc,
        toolDirectory: context.toolDirectory,
        toolchains: context.toolchains.mounts,
        reporter: context.reporter,
        system: context.probe.system,
        binds: prepared.binds,
      },
      action.limits,
      { ...action.environment, ...prepared.environment },
    ),
    command: limitedCommand(action.limits, context.probe.prlimit, [
      ...(prepared.command ?? tool.command),
      ...action.argvExecuted.slice(1),
    ]),
    directory: directory.pipes,
    timeoutMs: action.limits.timeoutSecs * 1000,
    graceMs: context.graceMs,
    cancellation: call.cancellation,
    onOutput: (stream, bytes) => output.write(stream, bytes),
  });
  const streams = output.close();
  const made = await lookAtWork(directory, action, exported, call.cancellation);
  const tests = await readCounts(directory, action, output.counter, ending);
  const sandbox = sandboxInForce(context.probe, action.limits);
  const ran = {
    ...{ duration_ms: ending.durationMs, ...(await streams), toolchain, prepare: prepared.statement },
    sandbox: crossed.length === 0 ? sandbox : { ...sandbox, exceeded: crossed },
  };
  if (made === null) {
    const outcome = outcomeOf(ending) === 'completed' ? 'cancelled' : outcomeOf(ending);
    return { ...notRun(context, action, outcome, ending.reason), signal: ending.signal, ...ran };
  }
  return {
    ...notRun(context, action, outcomeOf(ending), ending.reason),
    exit_code: ending.exitCode,
    signal: ending.signal,
    ...ran,
    ...made,
    tests,
  };
}

type Prepared = Omit<PreparedEnvironment, 'statement'> & { readonly statement: PrepareStatement | null };

const NOTHING_PREPARED: Prepared = { statement: null, binds: [], environment: {}, command: null };

/** What the command finds prepared, or why it does not come to the command. */
async function prepare(
  directory: RunDirectory,
  context: ExecutorContext,
  action: Action,
  exported: ExportedTree | null,
  cancellation: AbortSignal,
): Promise<
  { readonly kind: 'go'; readonly prepared: Prepared } | { readonly kind: 'stop'; readonly statement: PrepareStatement }
> {
  if (action.prepare === null) return { kind: 'go', prepared: NOTHING_PREPARED };
  const files = commitFiles(directory.work, exported);
  const caches = join(directory.path, 'caches');
  return prepareDependencies(context, {
    step: action.prepare,
    action,
    work: directory.work,
    caches,
    files,
    cancellation,
  });
}

/** `null` for a worktree, which is no commit's tree. */
async function provideTree(
  directory: RunDirectory,
  context: ExecutorContext,
  action: Action,
  cancellation: AbortSignal,
): Promise<ExportedTree | null> {
  if (action.cwd === 'repo') return exportCommit(context.source, action.subject.headSha, directory.work, cancellation);
  if (context.worktree === null) throw portcullisError('failed_to_start', { reason: 'this workspace has no worktree' });
  await copyWorktree(context.worktree, directory.work, cancellation);
  return null;
}

async function announceStart(context: ExecutorContext, action: Action, call: RunCall): Promise<void> {
  const started: RunStarted = { bootId: context.bootId, workflowId: call.workflowId };
  await context.client.call({
    method: 'POST',
    path: WORKSPACE_PATHS.started(action.taskId),
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(started)),
    patienceMs: STARTED_PATIENCE_MS,
  });
}

function outcomeOf(ending: ContainedEnding): RunOutcome {
  // What it crossed a limit with is its own doing, and so its end.
  return ending.outcome === 'exited' || ending.outcome === 'exceeded' ? 'completed' : ending.outcome;
}

/** The report of a run that made nothing; others are written over it. */
function notRun(context: ExecutorContext, action: Action, outcome: RunOutcome, reason: string): ExecutorReport {
  return {
    schema: 'portcullis/executor-report/v1',
    outcome,
    reason: boundedText(reason),
    argv_executed: action.argvExecuted,
    exit_code: null,
    signal: null,
    duration_ms: 0,
    stdout: EMPTY_STREAM,
    stderr: EMPTY_STREAM,
    artifacts: [],
    missing_artifacts: action.artifacts,
    tree_after: null,
    tests: action.counts === null ? null : 'unknown',
    prepare: null,
    toolchain: null,
    sandbox: sandboxInForce(context.probe, action.limits),
  };
}

/** As the door takes it: bounded, well-formed, no NUL. */
function boundedText(text: string): string {
  return text.replaceAll('\0', '').slice(0, 512).toWellFormed();
}

function reasonOf(error: unknown): string {
  return error instanceof PortcullisError ? `${error.code}: ${error.message}` : 'internal: something unexpected failed';
}
