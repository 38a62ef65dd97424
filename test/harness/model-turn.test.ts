/** A whole turn of a CLI in a real workspace: it asks its model over the workspace's one way out and does what that says. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { controlStore } from '../../activities/store/control.ts';
import { openProcessRuntime } from '../../local/coder/runtime/process-runtime.ts';
import type { AgentEvent, TurnMessage, TurnOutcome, WorkspaceRuntime } from '../../local/coder/runtime.ts';
import { tryDelegation } from '../../local/workspace/delegation.ts';
import { readOnly } from '../../local/workspace/program.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { branchOf } from '../../schemas/git/refs.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import { publish } from '../executor/support/repository.ts';
import { pollUntil } from '../support/poll.ts';
import { openModelStage, type ModelStage } from './model-stage.ts';
import type { Taken } from './workflows.ts';

const PAIR = 'T-1';
const SILENT = { signal: new AbortController().signal, log: () => {} };
/** What the model has its caller run: a real commit, pushed and submitted. */
const WORK = 'echo model > m.md; git add m.md; git commit -qm model; git push -q 2>&1; portcullis submit ready 2>&1';
const SMALL_AGENT = join(import.meta.dirname, '..', 'support', 'small-agent.mjs');

let stage: ModelStage;
let runtime: WorkspaceRuntime;
let head: string;
let ticket: { taken(): Promise<readonly Taken[]>; history(): Promise<string> };
const events: AgentEvent[] = [];

beforeAll(async () => {
  stage = await openModelStage(inject('temporalAddress'), WORK);
  const { harness, directory } = stage;
  const bare = join(harness.door.settings.repositoriesDir, 'local', `${PAIR}.git`);
  head = await publish(join(directory, 'source'), bare, { 'src/a.js': 'export const a = 1;\n' });
  await controlStore(harness.control).writeHead('local', {
    schema: 'portcullis/pair-head/v1',
    pair: PAIR,
    headSha: head,
    baseSha: null,
    execution: 'e1',
    generation: 1,
  });
  ticket = await harness.open(PAIR);
  await harness.assign(PAIR, { role: 'lore', phase: 'documenting', head });
  const small = {
    argv: ['node', '/opt/agent/small-agent.mjs'],
    resume: ['sh'],
    environment: { ANTHROPIC_BASE_URL: '{model}', ANTHROPIC_AUTH_TOKEN: '{token}', SAID: '{prompt} {model}' },
    mounts: [readOnly(SMALL_AGENT, '/opt/agent/small-agent.mjs')],
    timeoutSecs: 60,
  };
  runtime = await openProcessRuntime({
    directory: join(directory, 'r'),
    gatewaySocket: stage.gateway.socketPath,
    logFile: join(directory, 'log'),
    agents: { forge: small, sentinel: small, lore: small },
    bounds: { memoryBytes: 1024 ** 3, processes: 300 },
    disk: { bytes: 256 * 1024 ** 2, lookMs: 100 },
  });
  await runtime.open((event) => events.push(event), []);
  await startWorkspace();
});
afterAll(async () => {
  await runtime.close();
  await stage.close();
});
beforeEach(() => {
  stage.host.asked.length = 0;
});

async function startWorkspace(): Promise<void> {
  const { harness, directory } = stage;
  const code = randomBytes(24).toString('base64url');
  const { record } = await harness.door.credential({ pair: PAIR, role: 'lore', use: 'agent', execution: 'e1' });
  await controlStore(harness.control).writeCredential(record, {
    codeHex: digestHex(contentDigest(Buffer.from(code))),
    record: {
      schema: 'portcullis/claim-code/v1',
      credentialId: record.id,
      expiresAt: Date.now() + 60_000,
      usedAt: null,
    },
  });
  const run = `workspace/local/${PAIR}/lore/1`;
  const parameters = {
    [TEMPLATE_PARAMETERS.run]: run,
    [TEMPLATE_PARAMETERS.tenant]: 'local',
    [TEMPLATE_PARAMETERS.role]: 'lore',
    [TEMPLATE_PARAMETERS.head]: head,
    [TEMPLATE_PARAMETERS.branch]: branchOf('lore', PAIR) ?? '',
    [TEMPLATE_PARAMETERS.agentClaim]: code,
  };
  const agent = { id: 'a', token: 't', connects: 'soon', startExit: null, startDelayMs: 0 } as const;
  const start = { workspaceId: 'w', buildNumber: 1, name: 'w', ownerName: 'o', templateName: 'lore', parameters };
  expect(await runtime.apply({ ...start, run, agent }, SILENT)).toEqual({ outcome: 'succeeded' });
  await pollUntil(() => events.some((event) => event.event === 'lifecycle' && event.state === 'ready'), {
    what: `the workspace to be ready; see ${directory}/log`,
    deadlineMs: 50_000,
  });
}

/** A turn of the agent; a `later` one is a shell, so that what is asked of it is what it runs. */
async function turn(prompt: string, later = false): Promise<{ outcome: TurnOutcome; said: string }> {
  const messages: TurnMessage[] = [];
  const history = later ? [{ role: 'assistant', text: 'x' } as const] : [];
  const asked = { chatId: 'c', workspaceId: 'w', model: 'm', attempt: 1, labels: {}, prompt, history };
  const outcome = await runtime.runTurn(asked, { signal: SILENT.signal, message: (one) => void messages.push(one) });
  const said = messages.flatMap((one) => (one.role === 'assistant' ? [one.text] : [])).join('\n');
  return { outcome, said };
}

test('a CLI asks the model of its role, does what it says, and its ticket hears of it', async () => {
  const { outcome, said } = await turn('Document the change.');
  expect(said).toMatch(/accepted: the ticket is in/);
  expect(outcome).toEqual({ outcome: 'answered' });
  expect(stage.host.asked).toMatchObject([
    { target: '/v1/messages?beta=true', body: { messages: [{ content: 'Document the change.' }] } },
    { target: '/v1/messages?beta=true' },
  ]);
  expect((await ticket.taken()).map(({ update }) => update)).toEqual(['submitReady']);
});

test('[inv-15] the key of the model is nowhere in its workspace, nor in a history or a log', async () => {
  const { key } = stage.host;
  const search = [
    'env',
    'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"',
    'find /workspace/agent /workspace/home /workspace/checkout /tmp -name models.json 2>/dev/null',
    `grep -rls ${key.slice(0, 14)} /workspace/agent /workspace/home /workspace/checkout /tmp 2>/dev/null | head`,
  ];
  const { said } = await turn(search.join('\n'), true);
  expect(said).toContain('ANTHROPIC_AUTH_TOKEN=turn-');
  expect(said).not.toContain(key.slice(0, 14));
  expect(said).not.toContain('models.json');
  expect((await ticket.history()) + stage.logs()).not.toContain(key);
});

test('[inv-15] the bearer is in no environment of a turn, and what is there instead opens nothing but this turn’s way', async () => {
  const script = `const show = (r) => r.status;
    const base = process.env.ANTHROPIC_BASE_URL, token = process.env.ANTHROPIC_AUTH_TOKEN;
    const body = JSON.stringify({ model: 'm', messages: [] });
    const ask = (url, key) => fetch(url + '/v1/messages', { method: 'POST', body, headers: { authorization: 'Bearer ' + key } });
    console.log(base, token, (await ask(base, token)).status, (await ask(base, 'guessed')).status);`;
  const { said } = await turn(`node --input-type=module -e '${script.replaceAll("'", `'\\''`)}'\nenv`, true);
  const [, base = '', token = '', own, guessed] = /^(\S+) (turn-\S+) (\d+) (\d+)$/m.exec(said) ?? [];
  expect([own, guessed]).toEqual(['200', '401']);
  expect(said).not.toContain('pc1.');
  const again = `for u in ${base}; do curl -s -o /dev/null -w '%{http_code}\\n' -m 5 -X POST -H 'Authorization: Bearer ${token}' $u/v1/messages -d '{}' || echo closed; done;
    curl -s -o /dev/null -w '%{http_code}\\n' -X POST -H 'Authorization: Bearer ${token}' $ANTHROPIC_BASE_URL/v1/messages -d '{}' || echo closed`;
  const later = await turn(again, true);
  expect(later.said).not.toMatch(/200/);
  expect(stage.host.asked).toHaveLength(1);
});

test('[inv-19] what the prompt says is handed over as it is, stand-ins included', async () => {
  const { said } = await turn('printf "%s\\n" "{model} {token} {prompt}"; echo "$SAID"', true);
  expect(said).toMatch(/^\{model\} \{token\} \{prompt\}\n\{prompt\} http:/);
});

/** Last: the workspace does not survive it. */
test('[inv-19] a workspace is bounded as a whole: memory and processes where there is a cgroup, and the disk', async () => {
  const flood = [
    `node -e 'for (const a = [];;) a.push(Buffer.alloc(32 << 20, 1))'; echo "memory $?"`,
    'cat /proc/self/oom_score_adj; ls -A /run/cgroup 2>/dev/null | wc -l',
    '(i=0; while [ $i -lt 400 ]; do sleep 60 & i=$((i + 1)); done); echo "processes $?"',
  ];
  // Without one a flood of memory is the whole machine's.
  if ((await tryDelegation()).delegated !== null) {
    const { said } = await turn(flood.join('\n'), true);
    expect(said.split('\n')).toEqual(['memory 137', '800', '0', 'processes 2']);
  }
  const { outcome } = await turn('head -c 300M /dev/zero > /workspace/home/large; sleep 60', true);
  expect(outcome).not.toEqual({ outcome: 'answered' });
  const gone = () => events.some(({ event }) => event === 'disconnected');
  await pollUntil(gone, { what: 'the workspace to end', deadlineMs: 20_000 });
  const said = events.flatMap((one) => (one.event === 'log' && one.level === 'error' ? [one.text] : []));
  expect(said.join('\n')).toContain('the workspace ends: it holds more than 256 MiB');
  const place = join(stage.directory, 'r', 'compute', 'w', 'workspace');
  await pollUntil(() => !existsSync(place), { what: 'what it held to be gone', deadlineMs: 20_000 });
});
