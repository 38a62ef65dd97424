/**
 * A whole stack whose agents a test directs: the local Coder runs in the test's process, with real workspaces, and the agent in each
 * follows the test's notes (`puppet.ts`). The test can also act itself, with the bearer of a workspace that is there.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { serviceUsers } from '../../local/coder/identities.ts';
import { startLocalCoder, type LocalCoder } from '../../local/coder/main.ts';
import { roleTemplates } from '../../local/coder/role-templates.ts';
import { readCompute } from '../../local/coder/runtime/compute.ts';
import { scriptedArgv } from '../../local/coder/runtime/launch.ts';
import { computeRoot, placeOf, type Place } from '../../local/coder/runtime/place.ts';
import { openProcessRuntime } from '../../local/coder/runtime/process-runtime.ts';
import type { AgentCommand } from '../../local/coder/runtime/settings.ts';
import { newKey } from '../../local/coder/users/accounts.ts';
import { exampleRepository } from '../../local/example.ts';
import { readOnly } from '../../local/workspace/program.ts';
import { statePaths } from '../../local/state.ts';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { harnessCalls, type HarnessCalls } from '../../workers/agent/calls.ts';
import { pollUntil } from '../support/poll.ts';
import { startStack, type Stack } from './stage.ts';

const TENANT = 'local';
const DESK = '/opt/desk';
const PUPPET = '/opt/puppet.ts';

/** One workspace with an agent in it, and what can be done with its bearer. */
export interface Acting {
  readonly run: string;
  /** The harness's calls, refused at once where they are refused. */
  readonly calls: HarnessCalls;
  /** The gateway's client with the agent's bearer. */
  readonly client: GatewayClient;
  readonly bearer: string;
  readonly place: Place;
  readonly coderWorkspaceId: string;
}

export interface PuppetStack {
  readonly stack: Stack;
  /** Leaves a note for a workspace or a phase; `null` takes it away. */
  readonly note: (name: string, text: string | null) => void;
  /** The workspace of that generation once its agent has a bearer. */
  readonly acting: (ticket: string, role: WorkspaceRole, workspaceGeneration: number) => Promise<Acting>;
  close(): Promise<void>;
}

export async function startPuppetStack(): Promise<PuppetStack> {
  const root = mkdtempSync(join(tmpdir(), 'portcullis-e2e-'));
  const desk = join(root, 'desk');
  mkdirSync(desk);
  const tokens = { lifecycle: newKey(), chat: newKey(), breakGlass: newKey() };
  const paths = statePaths(join(root, 'state'));
  const [node = '', ...scripted] = await scriptedArgv();
  const agent: AgentCommand = {
    argv: [node, PUPPET, DESK, [node, ...scripted].join(' ')],
    resume: null,
    environment: { NODE_NO_WARNINGS: '1' },
    mounts: [readOnly(desk, DESK), readOnly(join(import.meta.dirname, 'puppet.ts'), PUPPET)],
    timeoutSecs: 300,
  };
  const runtimeDirectory = join(root, 'compute');
  const coder = await startLocalCoder({
    stateFile: ':memory:',
    runtime: await openProcessRuntime({
      directory: runtimeDirectory,
      gatewaySocket: paths.gatewaySocket,
      logFile: join(root, 'workspaces.log'),
      agents: { forge: agent, sentinel: agent, lore: agent },
    }),
    seed: {
      users: serviceUsers(tokens),
      templates: roleTemplates(),
      provider: { type: 'command', name: 'command', model: 'puppet' },
    },
    terraformMs: 40,
    checkMs: 4,
    tickMs: 5_000,
  });
  // Whoever lives in a workspace is somebody else; what is mounted for them must be open to them.
  chmodSync(desk, 0o755);
  const stack = await startStack({ root, environment: environmentOf(coder, tokens) }).catch(async (thrown: unknown) => {
    await coder.close();
    throw thrown;
  });
  // Made once: tickets that start at the same moment would make it at the same place.
  await exampleRepository(stack.paths.examples);
  return {
    stack,
    note(name, text) {
      if (text === null) rmSync(join(desk, name), { force: true });
      else writeFileSync(join(desk, name), text, { mode: 0o644 });
    },
    acting: async (ticket, role, workspaceGeneration) => {
      const run = workspaceWorkflowId({ tenant: TENANT, ticket, role, workspaceGeneration });
      return await pollUntil(() => actingIn(stack, runtimeDirectory, run), {
        what: `the agent of ${run} to have its bearer`,
        deadlineMs: 120_000,
      });
    },
    async close() {
      await stack.cli('down');
      await coder.close();
      await stack.close();
    },
  };
}

function environmentOf({ url }: LocalCoder, tokens: { readonly lifecycle: string; readonly chat: string }) {
  return {
    CODER_URL: url,
    CODER_SESSION_TOKEN: tokens.lifecycle,
    CODER_CHAT_TOKEN: tokens.chat,
    // Nothing of the stack is killed here: what is out of sight so long is lost.
    PORTCULLIS_WORKSPACE_STALE_SECS: '15',
  };
}

/** `null` while there is no such workspace, or it has not claimed its bearer yet. */
async function actingIn(stack: Stack, runtimeDirectory: string, run: string): Promise<Acting | null> {
  for (const id of readdirSync(computeRoot(runtimeDirectory))) {
    const place = placeOf(runtimeDirectory, id);
    if ((await readCompute(place))?.run !== run) continue;
    const bearer = bearerIn(place);
    if (bearer === null) return null;
    const calls = harnessCalls({ gatewaySocket: stack.paths.gatewaySocket, bearer, patienceMs: 0 });
    return { run, calls, client: stack.operator.as(bearer), bearer, place, coderWorkspaceId: id };
  }
  return null;
}

function bearerIn({ workspace }: Place): string | null {
  try {
    const grant: unknown = JSON.parse(readFileSync(join(workspace, 'agent', 'grant.json'), 'utf8'));
    const bearer: unknown = Reflect.get(Object(grant), 'bearer');
    return typeof bearer === 'string' ? bearer : null;
  } catch {
    return null;
  }
}
