/** Real workspaces at a real gateway: what an agent reaches with the bearer that its harness got, and a blind reviewer. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { controlStore } from '../../activities/store/control.ts';
import { openProcessRuntime } from '../../local/coder/runtime/process-runtime.ts';
import type { AgentEvent, TurnMessage, WorkspaceRuntime } from '../../local/coder/runtime.ts';
import { parseVerdict } from '../../policies/verdicts/parse.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { branchOf } from '../../schemas/git/refs.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import { publish } from '../executor/support/repository.ts';
import { pollUntil } from '../support/poll.ts';
import { openHarnessStage, type HarnessStage } from './stage.ts';
import type { Taken } from './workflows.ts';

const PAIR = 'T-1';
const SILENT = { signal: new AbortController().signal, log: () => {} };

let stage: HarnessStage;
let runtime: WorkspaceRuntime;
let directory: string;
let head: string;
let ticket: { taken(): Promise<readonly Taken[]> };
const events: AgentEvent[] = [];

beforeAll(async () => {
  stage = await openHarnessStage(inject('temporalAddress'));
  // Short, for the sockets in it, and passable: whoever lives in a workspace reaches the gateway's.
  directory = await mkdtemp('/tmp/pch-');
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'gateway'), { mode: 0o755 });
  const gateway = await stage.door.gateway({ socketPath: join(directory, 'gateway', 's') });
  const bare = join(stage.door.settings.repositoriesDir, 'local', `${PAIR}.git`);
  head = await publish(join(directory, 'source'), bare, { 'src/a.js': 'export const a = 1;\n' });
  await controlStore(stage.control).writeHead('local', {
    schema: 'portcullis/pair-head/v1',
    pair: PAIR,
    headSha: head,
    baseSha: null,
    execution: 'e1',
    generation: 1,
  });
  ticket = await stage.open(PAIR);
  const shell = { argv: ['/bin/sh'], resume: null, environment: {}, mounts: [], timeoutSecs: 60 };
  runtime = await openProcessRuntime({
    directory: join(directory, 'r'),
    gatewaySocket: gateway.socketPath,
    logFile: join(directory, 'log'),
    agents: { forge: shell, sentinel: 'scripted', lore: shell },
  });
  await runtime.open((event) => events.push(event), []);
  await Promise.all([startWorkspace('lore'), startWorkspace('sentinel')]);
});
afterAll(async () => {
  await runtime.close();
  await stage.close();
  await rm(directory, { recursive: true, force: true });
});

async function startWorkspace(role: 'lore' | 'sentinel'): Promise<void> {
  const code = randomBytes(24).toString('base64url');
  const { record } = await stage.door.credential({ pair: PAIR, role, use: 'agent', execution: 'e1' });
  await controlStore(stage.control).writeCredential(record, {
    codeHex: digestHex(contentDigest(Buffer.from(code))),
    record: {
      schema: 'portcullis/claim-code/v1',
      credentialId: record.id,
      expiresAt: Date.now() + 60_000,
      usedAt: null,
    },
  });
  const run = `workspace/local/${PAIR}/${role}/1`;
  const parameters = {
    [TEMPLATE_PARAMETERS.run]: run,
    [TEMPLATE_PARAMETERS.tenant]: 'local',
    [TEMPLATE_PARAMETERS.role]: role,
    [TEMPLATE_PARAMETERS.head]: head,
    [TEMPLATE_PARAMETERS.branch]: branchOf(role, PAIR) ?? '',
    [TEMPLATE_PARAMETERS.agentClaim]: code,
  };
  const agent = { id: role, token: 't', connects: 'soon', startExit: null, startDelayMs: 0 } as const;
  const start = { workspaceId: role, buildNumber: 1, name: role, ownerName: 'o', templateName: role, parameters };
  expect(await runtime.apply({ ...start, run, agent }, SILENT)).toEqual({ outcome: 'succeeded' });
  const isReady = (event: AgentEvent) =>
    event.agentId === role && event.event === 'lifecycle' && event.state === 'ready';
  await pollUntil(() => events.some(isReady), {
    what: `${role} to be ready; see ${directory}/log`,
    deadlineMs: 50_000,
  });
}

/** What the agent of a workspace said to a prompt. */
async function ask(workspaceId: string, prompt: string): Promise<string> {
  const messages: TurnMessage[] = [];
  const turn = { chatId: 'c', workspaceId, model: 'm', attempt: 1, labels: {}, prompt, history: [] };
  await runtime.runTurn(turn, { signal: SILENT.signal, message: (message) => void messages.push(message) });
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.text] : [])).join('\n');
}

test('[inv-05] the bearer of a workspace pushes its own branch and no other, and submits what its role may', async () => {
  await stage.assign(PAIR, { role: 'lore', phase: 'documenting', head });
  const script = [
    'echo a > a.md; git add a.md; git commit -qm a',
    'for b in main portcullis/T-1 portcullis-docs/T-1; do git push -q origin HEAD:refs/heads/$b 2>/dev/null && echo "pushed $b"; done',
    'for c in "submit plan" approve "submit ready"; do portcullis $c 2>&1 | cut -d: -f1; done',
  ];
  const said = await ask('lore', script.join('\n'));
  expect(said.split('\n')).toEqual([
    `pushed ${branchOf('lore', PAIR) ?? ''}`,
    'not_allowed',
    'approval_unknown',
    'accepted',
  ]);
});

test('[inv-02] a reviewer that finds no PLAN.md rejects with the reason, and its ticket hears just that', async () => {
  const plan = { revision: 1, commit: head };
  const { id } = await stage.review(PAIR, { head, phase: 'plan_review', review: REVIEW.review });
  await stage.assign(PAIR, { ...REVIEW, approvalId: id, head, plan });
  const said = await ask('sentinel', 'Review the plan.');
  expect(said).toContain('There is no PLAN.md to read.');
  expect(parseVerdict(said)).toMatchObject({ verdict: 'REJECTED', token: 'BLOCKED_UPSTREAM' });
  const heard = (await ticket.taken()).filter(({ update }) => update === 'approve' || update === 'reject');
  expect(heard).toMatchObject([{ update: 'reject', request: { approvalId: id, n: REVIEW.evaluation } }]);
});

const REVIEW = { role: 'sentinel', phase: 'plan_review', review: 'CONTRACT.md', evaluation: 3 } as const;
