/**
 * One run, from a signed action to the report: admit, export, say that it starts, run it contained, hash what it made, report.
 * A failed test is a report; this throws only when the machinery around the command fails.
 */
import { reporterFile, type Counts } from '../../policies/commands/counts/counter.ts';
import type { LoadedCommandPolicy } from '../../policies/commands/types.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { Action, SignedAction } from '../../schemas/verify/action.ts';
import type { ExecutorReport, RunOutcome } from '../../schemas/verify/report.ts';
import { WORKSPACE_PATHS, type RunStarted } from '../../schemas/workspace-api.ts';
import type { ContentDigest } from '../../schemas/digest.ts';
import { admitAction, type ExecutorIdentity } from './admit.ts';
import { hashArtifacts } from './artifacts.ts';
import { exportCommit, type CommitSource, type ExportedTree } from './checkout.ts';
import { runContained, type ContainedEnding } from './contained-run.ts';
import { copyWorktree } from './copy-worktree.ts';
import type { GatewayClient } from './gateway-client.ts';
import { EMPTY_STREAM, openOutput } from './output.ts';
import type { SandboxProbe } from './probe.ts';
import { makeRunDirectory, type RunDirectory } from './run-directory.ts';
import { readInside } from './safe-files.ts';
import { limitedCommand, sandboxOptions } from './sandbox.ts';
import { findTool, type Tool, type Toolchains } from './toolchains.ts';
import { treeAfter } from './tree-after.ts';

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
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

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
  const toolchain = { digest: await context.toolchainDigest([tool]) };
  const output = openOutput({
    client: context.client,
    task: action.taskId,
    keepBytes: action.limits.outputBytes,
    flushMs: context.flushMs,
    patienceMs: context.outputPatienceMs,
    counts: action.counts,
  });
  const ending = await runContained({
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
      },
      action.limits,
      action.environment,
    ),
    command: limitedCommand(action.limits, context.probe.prlimit, [...tool.command, ...action.argvExecuted.slice(1)]),
    directory: directory.pipes,
    timeoutMs: action.limits.timeoutSecs * 1000,
    graceMs: context.graceMs,
    cancellation: call.cancellation,
    onOutput: (stream, bytes) => output.write(stream, bytes),
  });
  const streams = output.close();
  const made = await lookAtWork(directory, action, exported, call.cancellation);
  const tests = await readCounts(directory, action, output.counter, ending);
  const ran = { duration_ms: ending.durationMs, ...(await streams), toolchain };
  if (made === null) {
    const outcome = ending.outcome === 'exited' ? 'cancelled' : outcomeOf(ending);
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

type WorkFindings = Pick<ExecutorReport, 'artifacts' | 'missing_artifacts' | 'tree_after'>;

/** What the command left of its copy; `null` when the run was cancelled before everything had been looked at. */
async function lookAtWork(
  directory: RunDirectory,
  action: Action,
  exported: ExportedTree | null,
  cancellation: AbortSignal,
): Promise<WorkFindings | null> {
  try {
    const { found, missing } = await hashArtifacts(directory.work, action.artifacts, cancellation);
    const tree = exported === null ? null : await treeAfter(directory.work, exported, cancellation);
    return { artifacts: found, missing_artifacts: missing, tree_after: tree };
  } catch (error) {
    if (cancellation.aborted) return null;
    throw error;
  }
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
  await copyWorktree(context.worktree, directory.work);
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

async function readCounts(
  directory: RunDirectory,
  action: Action,
  counter: ReturnType<typeof openOutput>['counter'],
  ending: ContainedEnding,
): Promise<Counts | null> {
  if (counter === null || action.counts === null) return null;
  // A run that was stopped has counted an unknown part of what it would have.
  if (ending.outcome !== 'exited') return 'unknown';
  const file = reporterFile(action.counts.parser);
  const report = file === null ? null : await readInside(directory.report, file, MAX_REPORT_BYTES);
  return counter.finish({ exitCode: ending.exitCode, report });
}

function outcomeOf(ending: ContainedEnding): RunOutcome {
  return ending.outcome === 'exited' ? 'completed' : ending.outcome;
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
    toolchain: null,
    sandbox: { containment: 'bubblewrap', network: 'none', limits: limitsInForce(context, action) },
  };
}

function limitsInForce({ probe }: ExecutorContext, { limits }: Action): Readonly<Record<string, number>> {
  const { processes, timeoutSecs, dataBytes, fileBytes, openFiles, tmpBytes, outputBytes } = limits;
  const held = { timeoutSecs, dataBytes, fileBytes, openFiles, tmpBytes, outputBytes };
  return probe.limitsProcesses ? { ...held, processes } : held;
}

/** As the door takes it: bounded, well-formed, no NUL. */
function boundedText(text: string): string {
  return text.replaceAll('\0', '').slice(0, 512).toWellFormed();
}

function reasonOf(error: unknown): string {
  return error instanceof PortcullisError ? `${error.code}: ${error.message}` : 'internal: something unexpected failed';
}
