/**
 * The whole system for end-to-end tests: the supervised local stack in a directory of its own, real repositories, real
 * workspaces. Nothing is stood in for.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { readRepositoryHead } from '../../activities/git/bundle.ts';
import { localPairName, openLocalPair, type OpenedPair } from '../../cli/verify/pair.ts';
import type { VerifyTask } from '../../client/a2a.ts';
import { GatewayClient, type VerifyAsk } from '../../client/gateway-client.ts';
import { hasEnded } from '../../client/watch.ts';
import { readState, statePaths, type LocalState, type PartName, type StatePaths } from '../../local/state.ts';
import { launchWorkspace, type RunningWorkspace } from '../../local/workspace/launch.ts';
import { pollUntil } from '../support/poll.ts';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');

export interface Stack {
  readonly root: string;
  readonly paths: StatePaths;
  readonly operator: GatewayClient;
  /** Runs the command with this stack's state directory; never throws. */
  cli(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** As the supervisor wrote it last. */
  state(): LocalState;
  /** Process of a part as the state says now. */
  pid(part: PartName): number;
  /** Kills a part and waits until the supervisor has it ready again. */
  killAndAwait(part: PartName): Promise<void>;
  awaitReady(): Promise<void>;
  /** A connection of the control plane's kind. */
  temporal(): Promise<{ readonly client: Client; close(): Promise<void> }>;
  close(): Promise<void>;
}

export interface StackStart {
  /** A directory of the caller's, removed by `close`. */
  readonly root?: string;
  /** Beside the test's own: an operator's Coder, say. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startStack({ root: given, environment = {} }: StackStart = {}): Promise<Stack> {
  const root = given ?? mkdtempSync(join(tmpdir(), 'portcullis-e2e-'));
  const paths = statePaths(join(root, 'state'));
  // Each command is a process: compiled once, it starts in half the time.
  const env = {
    ...process.env,
    ...environment,
    PORTCULLIS_LOCAL_PORTS: 'any',
    NODE_COMPILE_CACHE: join(tmpdir(), 'portcullis-test-compiled'),
  };
  const cli: Stack['cli'] = async (...args) => {
    const [command = '', ...rest] = args;
    const call = [CLI, command, '--state-dir', paths.root, ...rest];
    try {
      const { stdout, stderr } = await run(process.execPath, call, { maxBuffer: 64 * 1024 * 1024, env });
      return { code: 0, stdout, stderr };
    } catch (error) {
      const code: unknown = Reflect.get(Object(error), 'code');
      const said = (name: string) => String(Reflect.get(Object(error), name) ?? '');
      return { code: typeof code === 'number' ? code : 1, stdout: said('stdout'), stderr: said('stderr') };
    }
  };
  const up = await cli('up', '--detach', '--no-example');
  if (up.code !== 0) throw new Error(`the stack did not start: ${up.stderr}`);
  const state = () => {
    const found = readState(paths);
    if (found === null) throw new Error('the stack has no state');
    return found;
  };
  const pid = (part: PartName) => state().parts[part].process?.pid ?? 0;
  const ready = () => {
    const now = state();
    return Object.values(now.parts).every(({ state }) => state === 'ready' || state === 'external');
  };
  const awaitReady = async () => {
    await pollUntil(ready, { what: 'every part to be ready', deadlineMs: 30_000 });
  };
  return {
    root,
    paths,
    operator: new GatewayClient({
      url: `http://127.0.0.1:${state().ports.gateway}`,
      bearer: readFileSync(paths.operator, 'utf8').trim(),
    }),
    cli,
    state,
    pid,
    awaitReady,
    async temporal() {
      const connection = await Connection.connect({ address: `127.0.0.1:${state().ports.temporal}` });
      return { client: new Client({ connection }), close: () => connection.close() };
    },
    async killAndAwait(part) {
      const before = pid(part);
      process.kill(before, 'SIGKILL');
      await pollUntil(() => pid(part) !== before && ready(), { what: `${part} to be back`, deadlineMs: 30_000 });
    },
    async close() {
      await cli('down');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A git repository with these files and one commit. */
export function makeRepository(stack: Stack, name: string, files: Readonly<Record<string, string>>): string {
  const path = join(stack.root, 'repositories', name);
  mkdirSync(path, { recursive: true });
  const env = { PATH: process.env['PATH'], HOME: stack.root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: path, env });
  git('init', '-q', '-b', 'main');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
  return path;
}

export interface Seated {
  readonly opened: OpenedPair;
  readonly reviewer: GatewayClient;
  readonly workspace: RunningWorkspace | null;
  ask(change?: Partial<VerifyAsk['verify']>, messageId?: string): Promise<VerifyTask>;
  /** The task once it has ended. */
  ended(task: VerifyTask): Promise<VerifyTask>;
  leave(): Promise<void>;
}

/** Opens the pair of a repository and, unless told not to, starts its verifier workspace. */
export async function seat(stack: Stack, repository: string, launch = true): Promise<Seated> {
  const head = await readRepositoryHead(repository);
  const opened = await openLocalPair(stack.operator, head, localPairName(head), 'verifier');
  const { reviewer: code } = opened.codes;
  const reviewer = stack.operator.as((await stack.operator.exchangeClaim({ tenant: 'local', code })).bearer);
  const workspace = launch ? await startWorkspace(stack, opened) : null;
  return {
    opened,
    reviewer,
    workspace,
    ask: (change = {}, messageId) =>
      reviewer.sendVerify(askFor(opened.pair, change), messageId === undefined ? {} : { messageId }),
    ended: (task) =>
      pollUntil(
        async () => {
          const now = await reviewer.getTask(task.id);
          return hasEnded(now) && now;
        },
        { what: `task ${task.id} to end`, deadlineMs: 45_000, everyMs: 100 },
      ),
    async leave() {
      await workspace?.stop();
      await stack.operator.closePair(opened.pair);
    },
  };
}

export function askFor(pair: string, change: Partial<VerifyAsk['verify']> = {}): VerifyAsk {
  return {
    task_type: 'verify',
    pair_id: pair,
    verify: {
      kind: 'command',
      cwd: 'repo',
      argv: ['node', '--test'],
      timeout_secs: 60,
      expect: { exit_code: 0 },
      ...change,
    },
  };
}

async function startWorkspace(stack: Stack, opened: OpenedPair): Promise<RunningWorkspace> {
  const directory = mkdtempSync(join(stack.paths.workspaces, 'test-'));
  const claimCodeFile = join(directory, 'claim-code');
  writeFileSync(claimCodeFile, opened.codes.executor, { mode: 0o600 });
  const workspace = await launchWorkspace({
    name: opened.workspace.name,
    tenant: 'local',
    directory: join(directory, 'workspace'),
    gatewaySocket: stack.paths.gatewaySocket,
    claimCodeFile,
    toolchains: null,
    logFile: join(stack.paths.logs, 'workspaces.log'),
    worktree: null,
  });
  await untilAtTheDoor(stack, opened.pair);
  return workspace;
}

/** Waits until the executor of a pair polls; before that a request finds nobody. */
export async function untilAtTheDoor(stack: Stack, pair: string): Promise<void> {
  await pollUntil(async () => (await stack.operator.pair(pair)).presence.verifier === 'idle', {
    what: `the executor of ${pair} to be at the door; its log: ${join(stack.paths.logs, 'workspaces.log')}`,
    deadlineMs: 30_000,
  });
}

/** Pids of all processes of this machine whose command line holds the marker. */
export function processesWith(marker: string): readonly number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return listed
    .split('\n')
    .filter((line) => line.includes(marker) && !line.includes('ps -eo'))
    .map((line) => Number(line.trim().split(/\s+/)[0]));
}
