/**
 * One turn of an agent: a configured command in the checkout, with a process tree of its own that ends with it. It sees the
 * workspace but not what the executor keeps, and it is told no key: the way out adds what it needs.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { dirname, join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { contained, type Containment } from './contained.ts';
import { gitEnvironment } from './git-settings.ts';
import { appended, lastBytes } from './last-bytes.ts';
import { readLines } from './lines.ts';
import { openModelWay, type ModelWay } from './model-way.ts';
import { gathered } from './progress.ts';
import { MAX_MESSAGE_BYTES, MAX_TROUBLE_BYTES, type TurnCommand, type TurnEvent } from './protocol.ts';
import type { HarnessSettings } from './settings.ts';

/** What every turn of a workspace runs with. */
export interface TurnSurroundings extends Containment {
  readonly settings: HarnessSettings;
  /** URL of the forwarder. */
  readonly gateway: string;
  /** The agent's bearer, for the way to its model; `null` in a workspace without an agent. */
  readonly bearer: string | null;
}

/** Environment variable that tells the agent's commands where the harness keeps what they need. */
export const HARNESS_VARIABLE = 'PORTCULLIS_HARNESS';
/** Where a workspace sees the programs of its agent's CLI, when its installation is shown to it (`coder.agent-dir`). */
export const AGENT_DIRECTORY = '/opt/agent';
const AGENT_PROGRAMS = `${AGENT_DIRECTORY}/node_modules/.bin`;
const SYSTEM = ['/usr/local/bin', '/usr/bin', '/bin'] as const;
/** Where the agent's commands are, below the private directory. */
export const COMMAND_DIRECTORY = 'bin';

/**
 * Resolves when the command and everything it started is gone, and its way to the model with it. `cut` ends it at once.
 * @throws `model_refused` for a command that wants a model in a workspace without an agent
 */
export async function runTurn(
  surroundings: TurnSurroundings,
  command: TurnCommand,
  tell: (event: TurnEvent) => void,
  cut: AbortSignal,
): Promise<void> {
  const way = wantsModel(command) ? await modelWayOf(surroundings) : null;
  try {
    const [program, ...args] = contained(surroundings, directoryOf(surroundings), filled(command, way));
    const child = spawn(program, args, {
      cwd: '/',
      env: environmentOf(surroundings, command, way),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    // A command need not read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(command.argv.includes(PROMPT) ? '' : command.prompt);
    await follow(child, command, tell, cut);
  } finally {
    way?.close();
  }
}

/** Stands for the prompt, as a word of its own. */
const PROMPT = '{prompt}';
const FOR_MODEL = /\{(?:model|token)\}/;

function wantsModel({ argv, environment }: TurnCommand): boolean {
  return [...argv, ...Object.values(environment)].some((text) => FOR_MODEL.test(text));
}

function modelWayOf({ settings, bearer }: TurnSurroundings): Promise<ModelWay> {
  if (bearer === null) throw portcullisError('model_refused', { reason: 'this workspace has no agent' });
  return openModelWay({ gatewaySocket: settings.gatewaySocket, bearer });
}

/** The words of the command. What the prompt says is left as it is, whatever is in it. */
function filled({ argv, prompt }: TurnCommand, way: ModelWay | null): readonly string[] {
  return argv.map((word) => (word === PROMPT ? prompt : inserted(word, way)));
}

function inserted(text: string, way: ModelWay | null): string {
  return way === null ? text : text.replaceAll('{model}', way.url).replaceAll('{token}', way.token);
}

function follow(
  child: ChildProcessWithoutNullStreams,
  { timeoutSecs }: TurnCommand,
  tell: (event: TurnEvent) => void,
  cut: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let output = '';
    let trouble = '';
    let timedOut = false;
    const kill = () => endGroup(child);
    const progress = gathered((text) => tell({ event: 'progress', text }));
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutSecs * 1000);
    cut.addEventListener('abort', kill, { once: true });
    if (cut.aborted) kill();
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output = appended(output, part, MAX_MESSAGE_BYTES);
    });
    readLines(child.stderr, (line) => {
      trouble = appended(trouble, `${line}\n`, MAX_TROUBLE_BYTES);
      if (line.trim() !== '') progress.add(line.slice(0, 1_000));
    });
    const settle = (event: TurnEvent) => {
      clearTimeout(timer);
      cut.removeEventListener('abort', kill);
      progress.close();
      tell(event);
      resolve();
    };
    child.once('error', (error) => settle({ event: 'refused', reason: error.message }));
    child.once('close', (code, signal) => {
      const said = { output: lastBytes(output, MAX_MESSAGE_BYTES), trouble: lastBytes(trouble, MAX_TROUBLE_BYTES) };
      settle({ event: 'ended', code, signal, timedOut, ...said });
    });
  });
}

/** The kernel ends the whole pid namespace with its first process, whatever detached itself in it. */
function endGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function directoryOf({ settings }: TurnSurroundings): string {
  return settings.checkout?.directory ?? settings.home;
}

function environmentOf(
  { settings, gateway }: TurnSurroundings,
  command: TurnCommand,
  way: ModelWay | null,
): Record<string, string> {
  const { privateDirectory, home } = settings;
  const own = Object.entries(command.environment).map(
    ([name, value]) => [name, inserted(value.replaceAll('{gateway}', gateway), way)] as const,
  );
  // A CLI that is a script wants a recent Node, and the machine's own may be older.
  const programs = [join(privateDirectory, COMMAND_DIRECTORY), AGENT_PROGRAMS, dirname(process.execPath), ...SYSTEM];
  return {
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    ...Object.fromEntries<string>(own),
    ...gitEnvironment(privateDirectory),
    PATH: programs.join(':'),
    HOME: home,
    [HARNESS_VARIABLE]: privateDirectory,
  };
}
