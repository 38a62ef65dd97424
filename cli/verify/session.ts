/**
 * One verification from a repository to its result: the commit is taken in, a fresh workspace with an executor starts, the
 * request is made over A2A as a reviewing agent makes it, and the workspace is gone when this returns.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadRoutingPolicy } from '../../activities/policy/routing.ts';
import { readRepositoryHead, type RepositoryHead } from '../../activities/git/bundle.ts';
import type { VerifyTask } from '../../client/a2a.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { openSession, removeSession, stripSession } from '../../local/sessions.ts';
import { launchWorkspace, type RunningWorkspace } from '../../local/workspace/launch.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import { REQUEST_LIMITS } from '../../schemas/verify/request.schema.ts';
import type { CliContext } from '../context.ts';
import type { VerifyOptions } from './options.ts';
import { cleanUp, type CleanUpStep } from './clean-up.ts';
import { followTask } from './follow.ts';
import { localPairName, openLocalPair, type OpenedPair } from './pair.ts';
import { withPairLock } from './pair-lock.ts';
import { sweepSessions } from './sweep.ts';

/** How long a fresh workspace may take until its executor is at the door. */
const READY_DEADLINE_MS = 30_000;

export interface Session {
  readonly operator: GatewayClient;
  readonly context: CliContext;
  readonly options: VerifyOptions;
}

/** The task at its end. @throws `repository_invalid`, `workspace_start_failed`, `stream_cut`, `interrupted` */
export async function verifyOnce(session: Session): Promise<VerifyTask> {
  const { operator, options, context } = session;
  const { output } = context;
  const { policy: routing } = await loadRoutingPolicy(context.settings.get('routing.dir') ?? undefined);
  const role = options.executor ?? routing.defaults[options.cwd];
  await sweepSessions(context, (pair) => operator.closePair(pair));
  const head = await readRepositoryHead(options.repo);
  output.progress(`commit      ${head.headSha} of ${head.path}`);
  for (const line of linkedParts(head)) output.progress(line);
  for (const lender of head.directories.lenders) output.progress(`borrows     ${lender.holds} of ${lender.path}`);
  const pair = options.pair ?? localPairName(head);
  return await withPairLock(context, pair, () => verifyInPair(session, head, pair, role));
}

/** What is read outside of the checkout, by the directory that holds it. */
function linkedParts({ directories: { links } }: RepositoryHead): readonly string[] {
  const places = Map.groupBy(links, ({ within }) => within);
  return [...places].map(([within, parts]) => `linked      ${parts.map(({ part }) => part).join(', ')} in ${within}`);
}

async function verifyInPair(
  { operator, context, options }: Session,
  head: RepositoryHead,
  pair: string,
  role: ExecutorRole,
): Promise<VerifyTask> {
  const { output, paths, signal } = context;
  const opened = await openLocalPair(operator, head, pair, role, (text) => output.progress(text));
  let directory: string | null = null;
  let workspace: RunningWorkspace | null = null;
  try {
    directory = openSession(paths.workspaces, pair);
    workspace = await startWorkspace(context, opened, directory, options.cwd === 'worktree' ? head.path : null);
    await untilPresent(operator, opened, workspace, signal);
    const { name, generation } = opened.workspace;
    output.progress(`workspace   ${name}, generation ${generation}: own network, own user, one socket to the gateway`);
    const grant = await operator.exchangeClaim({
      tenant: context.settings.text('tenant'),
      code: opened.codes.reviewer,
    });
    return await ask(operator.as(grant.bearer), context, options, pair, role);
  } finally {
    await cleanUp(output, leavingSteps({ close: () => operator.closePair(pair), workspace, directory }));
  }
}

export interface Leaving {
  readonly close: () => Promise<unknown>;
  readonly workspace: Pick<RunningWorkspace, 'stop'> | null;
  readonly directory: string | null;
}

/** First the credentials, so that nothing which stays behind is of any use. */
export function leavingSteps({ close, workspace, directory }: Leaving): readonly CleanUpStep[] {
  let closed = false;
  return [
    {
      undone: "The pair's credentials are not revoked yet; the next verification does it, or they expire",
      run: async () => {
        await close();
        closed = true;
      },
    },
    { undone: 'The workspace was not stopped in order', run: async () => workspace?.stop() },
    {
      undone: `${directory ?? 'The directory'} is not removed yet; the next verification does it`,
      run: async () => {
        if (directory === null) return;
        // What is left of it names the pair that is still to be closed.
        await (closed ? removeSession(directory) : stripSession(directory));
      },
    },
  ];
}

async function ask(
  reviewer: GatewayClient,
  context: CliContext,
  options: VerifyOptions,
  pair: string,
  role: ExecutorRole,
): Promise<VerifyTask> {
  const task = await reviewer.sendVerify(
    {
      task_type: 'verify',
      pair_id: pair,
      verify: {
        kind: 'command',
        cwd: options.cwd,
        argv: options.argv,
        timeout_secs: options.timeoutSecs,
        expect: { exit_code: options.expectExit, artifacts: options.artifacts },
        executor: role,
        // What is in a live tree now was never asked before.
        ...(options.again || options.cwd === 'worktree' ? { attempt: freshAttempt() } : {}),
      },
    },
    { signal: context.signal },
  );
  return await followTask(reviewer, context, task);
}

/** `liveTree`: the checkout that is copied into the workspace; `null` for none. */
async function startWorkspace(
  context: CliContext,
  opened: OpenedPair,
  directory: string,
  liveTree: string | null,
): Promise<RunningWorkspace> {
  const claimCodeFile = join(directory, 'claim-code');
  await writeFile(claimCodeFile, opened.codes.executor, { mode: 0o600, flag: 'wx' });
  return await launchWorkspace({
    name: opened.workspace.name,
    tenant: context.settings.text('tenant'),
    directory: join(directory, 'workspace'),
    gatewaySocket: context.paths.gatewaySocket,
    claimCodeFile,
    toolchains: null,
    logFile: join(context.paths.logs, 'workspaces.log'),
    worktree: null,
    // The state of the stack may lie in the checkout, as it does in a clone of this project.
    ...(liveTree === null ? {} : { liveTree: { from: liveTree, except: [context.paths.root] } }),
  });
}

/** Waits until the door sees the executor poll; before that a request would find nobody. */
async function untilPresent(
  operator: GatewayClient,
  opened: OpenedPair,
  workspace: RunningWorkspace,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  const gone = workspace.exited.then((code) => {
    throw portcullisError('workspace_start_failed', {
      reason: `it ended with exit code ${code} before its executor was ready`,
    });
  });
  gone.catch(() => {});
  const { role } = opened.workspace;
  const look = async () => {
    for (;;) {
      if (signal.aborted) throw portcullisError('interrupted');
      if ((await operator.pair(opened.pair)).presence[role] === 'idle') return;
      if (performance.now() > deadline) {
        throw portcullisError('workspace_start_failed', { reason: 'its executor did not come to the door in 30 s' });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.race([look(), gone]);
}

/**
 * Another number than that of every request whose answer is still good: seconds come round after eleven days, and an
 * answer is reused for minutes. 1 is what a request without `--again` has.
 */
function freshAttempt(): number {
  return 2 + (Math.floor(Date.now() / 1000) % (REQUEST_LIMITS.attempt - 1));
}
