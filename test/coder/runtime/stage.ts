/** Real workspaces on this machine over a stand-in gateway, which grants credentials, serves git and takes pushes. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openProcessRuntime } from '../../../local/coder/runtime/process-runtime.ts';
import type { AgentCommand, RuntimeSettings } from '../../../local/coder/runtime/settings.ts';
import type {
  AgentEvent,
  BuildWatch,
  RuntimeStart,
  TurnMessage,
  TurnOutcome,
  WorkspaceRuntime,
} from '../../../local/coder/runtime.ts';
import { generateSigningKey } from '../../../activities/signing/keys.ts';
import { executorQueue } from '../../../schemas/queues.ts';
import { TEMPLATE_PARAMETERS } from '../../../schemas/workspace/parameters.ts';
import { startFakeGateway, type Answer, type FakeGateway } from '../../executor/support/fake-gateway.ts';
import { publish } from '../../executor/support/repository.ts';
import { pollUntil } from '../../support/poll.ts';

/** A turn's prompt is a shell script. */
const SHELL: AgentCommand = { argv: ['/bin/sh'], resume: null, environment: {}, mounts: [], timeoutSecs: 30 };

export interface RuntimeStage {
  readonly directory: string;
  readonly settings: RuntimeSettings;
  readonly runtime: WorkspaceRuntime;
  readonly gateway: FakeGateway;
  readonly head: string;
  readonly events: AgentEvent[];
  /** A start of a workspace with one of our roles, or of one with another template. */
  start(name: string, role: 'forge' | 'sentinel' | null, change?: Partial<RuntimeStart['agent']>): RuntimeStart;
  /** The bearer that the code of this name is good for. */
  bearer(name: string, use: 'agent' | 'executor'): string;
  /** The states of an agent so far, `connected` and `disconnected` among them. */
  states(agentId: string): readonly string[];
  until(agentId: string, state: string): Promise<void>;
  turn(workspaceId: string, script: string, signal?: AbortSignal): Promise<Turn>;
  close(): Promise<void>;
}

export interface Turn {
  readonly outcome: TurnOutcome;
  readonly messages: readonly TurnMessage[];
  /** The last message of the agent. */
  readonly said: string;
}

export const SILENT: BuildWatch = { signal: new AbortController().signal, log: () => {} };

export async function openRuntimeStage(temporalAddress: string): Promise<RuntimeStage> {
  // Short: the path of a socket has little room.
  const directory = await realpath(await mkdtemp('/tmp/pcr-'));
  const repositories = join(directory, 'repositories');
  const bare = join(repositories, 'local', 'T-1.git');
  const example = (path: string) =>
    readFileSync(join(import.meta.dirname, '../../../examples/node-project', path), 'utf8');
  const files = ['package.json', 'src/token-bucket.js', 'test/token-bucket.test.js'];
  const head = await publish(
    join(directory, 'source'),
    bare,
    Object.fromEntries(files.map((file) => [file, example(file)])),
  );
  await promisify(execFile)('git', ['--git-dir', bare, 'config', 'http.receivepack', 'true']);
  await mkdir(join(directory, 'gateway'));
  const key = generateSigningKey();
  const used = new Set<string>();
  const onCall = (path: string, body: Buffer): Answer | null => {
    if (path !== '/v1/claims/exchange') return path === '/v1/harness/context' ? { status: 200, json: CONTEXT } : null;
    const code = /"code":"([^"]+)"/.exec(body.toString())?.[1] ?? '';
    if (used.has(code)) return { status: 401, json: { error: { code: 'claim_code_invalid' } } };
    used.add(code);
    return { status: 200, json: grantFor(code, key) };
  };
  const gateway = await startFakeGateway({
    socketPath: join(directory, 'gateway', 'gateway.sock'),
    repositories,
    temporalAddress,
    onCall,
  });
  const settings: RuntimeSettings = {
    directory: join(directory, 'r'),
    gatewaySocket: gateway.socketPath,
    logFile: join(directory, 'log'),
    agents: { forge: SHELL, sentinel: SHELL, lore: 'scripted' },
  };
  const events: AgentEvent[] = [];
  const runtime = await openProcessRuntime(settings);
  await runtime.open((event) => events.push(event), []);
  const states: RuntimeStage['states'] = (agentId) =>
    events.flatMap((event) =>
      event.agentId !== agentId || event.event === 'log'
        ? []
        : [event.event === 'lifecycle' ? event.state : event.event],
    );
  return {
    directory,
    settings,
    runtime,
    gateway,
    head,
    events,
    states,
    start: (name, role, change = {}) => startOf(name, role, head, change),
    bearer: (name, use) => bearerOf(codeOf(name, use)),
    until: async (agentId, state) => {
      await pollUntil(() => states(agentId).includes(state), {
        what: `agent ${agentId} to be ${state}; it was: ${states(agentId).join(', ')}`,
        deadlineMs: 40_000,
      });
    },
    async turn(workspaceId, script, signal = new AbortController().signal) {
      const messages: TurnMessage[] = [];
      const turn = { chatId: 'c', workspaceId, model: 'm', attempt: 1, labels: {}, prompt: script, history: [] };
      const outcome = await runtime.runTurn(turn, { signal, message: (message) => void messages.push(message) });
      const said = messages.flatMap((message) => (message.role === 'assistant' ? [message.text] : [])).at(-1) ?? '';
      return { outcome, messages, said };
    },
    async close() {
      await runtime.close();
      await gateway.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function startOf(
  name: string,
  role: 'forge' | 'sentinel' | null,
  head: string,
  change: Partial<RuntimeStart['agent']>,
): RuntimeStart {
  const run = `workspace/local/T-1/${name}/1`;
  const ours = {
    [TEMPLATE_PARAMETERS.tenant]: 'local',
    [TEMPLATE_PARAMETERS.ticket]: 'T-1',
    [TEMPLATE_PARAMETERS.role]: role ?? '',
    [TEMPLATE_PARAMETERS.generation]: '1',
    [TEMPLATE_PARAMETERS.head]: head,
    [TEMPLATE_PARAMETERS.branch]: role === 'forge' ? 'portcullis/T-1' : '',
    [TEMPLATE_PARAMETERS.executorClaim]: role === 'forge' ? codeOf(name, 'executor') : '',
    [TEMPLATE_PARAMETERS.agentClaim]: codeOf(name, 'agent'),
  };
  return {
    workspaceId: name,
    buildNumber: 1,
    name,
    ownerName: 'service',
    templateName: role ?? 'other',
    run,
    parameters: { [TEMPLATE_PARAMETERS.run]: run, ...(role === null ? {} : ours) },
    agent: { id: `agent-${name}`, token: 't', connects: 'soon', startExit: null, startDelayMs: 0, ...change },
  };
}

function codeOf(name: string, use: 'agent' | 'executor'): string {
  return `claim-code-of-${name}-${use}`;
}

function bearerOf(code: string): string {
  return `pc1.local.${code}.c2VjcmV0`;
}

function grantFor(code: string, key: { readonly keyId: string; readonly publicPem: string }): object {
  const executes = code.endsWith('-executor');
  const seat = { tenant: 'local', pair: 'T-1', role: 'forge' as const, workspaceGeneration: 1 };
  return {
    schema: 'portcullis/claim-grant/v1',
    bearer: bearerOf(code),
    ...seat,
    role: code.includes('sentinel') ? 'sentinel' : 'forge',
    workspace: 'ws-1',
    expiresAt: Date.now() + 3_600_000,
    executor: executes
      ? {
          role: 'forge',
          namespace: 'default',
          taskQueue: executorQueue(seat),
          actionKey: { keyId: key.keyId, pem: key.publicPem },
        }
      : null,
  };
}

const CONTEXT = {
  schema: 'portcullis/harness-context/v1',
  tenant: 'local',
  pair: 'T-1',
  role: 'forge',
  workspace: 'ws-1',
  workspaceGeneration: 1,
  assignment: null,
  approval: { id: 'an-approval', token: 'a-token-that-is-not-shown', expiresAt: 1 },
};
