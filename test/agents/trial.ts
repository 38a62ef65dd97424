/**
 * One real CLI as the agent of every role: the example ticket from plan to merged change, its model a fake host that has each
 * turn run the scripted agent in the CLI's own shell. What is tried is the way there and back: the preset, the mounts, the way to
 * the model, the tool call, the submission. How well a model works is not.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedArgv } from '../../local/coder/runtime/launch.ts';
import type { AgentPreset } from '../../local/coder/runtime/presets.ts';
import { startStack, type Stack } from '../e2e/stage.ts';
import { landedSubjects, startTicket, untilGone, untilTicket, ENDS } from '../e2e/tickets.ts';
import { startFakeModelHost, type FakeModelHost } from '../support/fake-model/host.ts';
import { installCli, TRIED_CLIS } from './install.ts';

export interface Trial {
  readonly cli: string;
  /** Answered calls of a model, by the role that asked. */
  readonly calls: Readonly<Record<string, number>>;
  /** Of the ticket: its rejections on the way. */
  readonly rejected: number;
  readonly seconds: number;
  /** What does not hold; nothing when all is well. */
  readonly faults: readonly string[];
}

export interface TrialOptions {
  readonly say: (text: string) => void;
  /** Called with the stack before it is stopped, when something does not hold. */
  readonly onFault?: (stack: Stack) => void;
}

/** Roles of which each has to have asked its model. */
const ROLES = ['forge', 'sentinel', 'lore'] as const;
const TICKET = 'T-900';
/** A turn of a CLI takes seconds more than the scripted agent's. */
const TICKET_MS = 600_000;

export async function tryCli(preset: AgentPreset, { say, onFault }: TrialOptions): Promise<Trial> {
  const cli = TRIED_CLIS[preset];
  const label = `${cli.name} ${cli.version}`;
  const root = await mkdtemp(join(tmpdir(), 'portcullis-agents-'));
  say(`${label}: installing`);
  const directory = await installCli(join(root, 'cli'), cli);
  const host = await startFakeModelHost({ command: `${(await scriptedArgv()).join(' ')} < /dev/null` });
  const environment = {
    PORTCULLIS_EGRESS_MODELS_FILE: await hostsFile(join(root, 'models'), host),
    PORTCULLIS_CODER_AGENT: preset,
    PORTCULLIS_CODER_AGENT_DIR: directory,
    ...(cli.model === null ? {} : { PORTCULLIS_CODER_AGENT_MODEL: cli.model }),
  };
  const stack = await startStack({ root, environment });
  try {
    const trial = await carryOut(stack, say);
    const calls = callsByRole(stack);
    const silent = ROLES.filter((role) => (calls[role] ?? 0) === 0);
    const faults = [...trial.faults, ...silent.map((role) => `${role} never asked its model`)];
    if (faults.length > 0) onFault?.(stack);
    return { cli: label, calls, ...trial, faults };
  } finally {
    await stack.close();
    await host.close();
  }
}

async function carryOut(stack: Stack, say: TrialOptions['say']): Promise<Omit<Trial, 'cli' | 'calls'>> {
  const began = performance.now();
  const { remote } = await startTicket(stack, TICKET);
  let told = '';
  const { state } = await untilTicket(
    stack,
    TICKET,
    'to end',
    ({ state: { phase } }) => {
      if (phase !== told) say(phase);
      told = phase;
      return ENDS.some((end) => end === phase);
    },
    TICKET_MS,
  );
  const faults: string[] = [];
  if (state.phase !== 'done') faults.push(`${state.phase}: ${state.stop?.cause ?? ''}: ${state.stop?.detail ?? ''}`);
  else if ((await landedSubjects(remote)).length < 2) faults.push('nothing landed');
  await untilGone(stack, TICKET);
  const rejected = state.lineage.length;
  return { rejected, seconds: (performance.now() - began) / 1000, faults };
}

/** As an operator writes it: the host of `default`, which is every role's, and the key in a file of its own. */
async function hostsFile(directory: string, { url, key }: FakeModelHost): Promise<string> {
  await mkdir(directory, { mode: 0o700 });
  await writeFile(join(directory, 'key'), `${key}\n`, { mode: 0o600 });
  const host = { name: 'default', url, apis: ['anthropic', 'openai'], auth: 'bearer', key_file: 'key' };
  const file = join(directory, 'models.json');
  await writeFile(file, JSON.stringify({ schema: 'portcullis/model-hosts/v1', hosts: [host] }), { mode: 0o600 });
  return file;
}

/** By the egress's own log, which is what an operator has. */
function callsByRole({ paths }: Stack): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const line of readFileSync(join(paths.logs, 'egress.log'), 'utf8').split('\n')) {
    const [, role] = /"holder":"[^"]*\/(forge|sentinel|lore)[^"]*".*"status":200.*"model call"/.exec(line) ?? [];
    if (role !== undefined) calls[role] = (calls[role] ?? 0) + 1;
  }
  return calls;
}
