/**
 * A runtime without processes: agents connect and become ready after the times that were recorded, and turns are those of
 * a model that says hello. For tests of what the server does, not of what a workspace does.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  AgentEvent,
  BuildOutcome,
  BuildWatch,
  Compute,
  KnownAgent,
  RuntimeEnd,
  RuntimeStart,
  RuntimeTurn,
  TurnOutcome,
  TurnWatch,
  WorkspaceRuntime,
} from './runtime.ts';

export interface SimulatedOptions {
  /** Real milliseconds for one of its own, as the server's. */
  readonly timeScale: number;
  /** Workspaces whose agent never connects. */
  readonly neverConnects?: (workspaceName: string) => boolean;
  /** Models whose provider is not there, so that each turn is tried again for long. */
  readonly unreachable?: (model: string) => boolean;
}

interface Machine {
  readonly run: string;
  readonly agentId: string;
  readonly end: AbortController;
}

/** Milliseconds from the end of the apply, as recorded. */
const CONNECT_MS = 130;
const STARTING_MS = 40;
const SCRIPT_MS = 2_000;
const ANSWER_MS = 150;
/** For turns that are to be interrupted. */
const SLOW_ANSWER_MS = 3_600_000;

/** What waits for it goes on when it opens. */
interface Gate {
  readonly opened: Promise<undefined>;
  readonly open: () => void;
}

const OPEN: Gate = { opened: Promise.resolve(undefined), open: () => {} };

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { opened: promise, open: () => resolve(undefined) };
}

const SUCCEEDED: BuildOutcome = { outcome: 'succeeded' };

export class SimulatedRuntime implements WorkspaceRuntime {
  /** Real milliseconds for one of its own; may change between workspaces. */
  timeScale: number;
  /** From the end of the apply until the agent connects, in its milliseconds. */
  connectMs = CONNECT_MS;
  #builds: Gate = OPEN;
  #agents: Gate = OPEN;
  readonly #neverConnects: (workspaceName: string) => boolean;
  readonly #unreachable: (model: string) => boolean;
  readonly #machines = new Map<string, Machine>();
  #tell: (event: AgentEvent) => void = () => {};

  constructor({ timeScale, neverConnects, unreachable }: SimulatedOptions) {
    this.#unreachable = unreachable ?? (() => false);
    this.timeScale = timeScale;
    this.#neverConnects = neverConnects ?? (() => false);
  }

  open(listener: (event: AgentEvent) => void, known: readonly KnownAgent[]): Promise<void> {
    this.#tell = listener;
    const alive = new Set([...this.#machines.values()].map(({ agentId }) => agentId));
    for (const { agentId } of known) listener({ agentId, event: alive.has(agentId) ? 'connected' : 'disconnected' });
    return Promise.resolve();
  }

  /** Builds and agents stay where they are until they are let go, so that what lies between can be looked at. */
  hold(what: 'builds' | 'agents'): void {
    if (what === 'builds') this.#builds = closedGate();
    else this.#agents = closedGate();
  }

  letGo(): void {
    for (const gate of [this.#builds, this.#agents]) gate.open();
    this.#builds = OPEN;
    this.#agents = OPEN;
  }

  async apply(start: RuntimeStart, { signal }: BuildWatch): Promise<BuildOutcome> {
    await this.#held(signal);
    this.#end(start.workspaceId);
    const machine = { run: start.run, agentId: start.agent.id, end: new AbortController() };
    this.#machines.set(start.workspaceId, machine);
    if (start.agent.connects === 'soon' && !this.#neverConnects(start.name)) void this.#live(start, machine.end.signal);
    return SUCCEEDED;
  }

  async stop({ workspaceId }: RuntimeEnd, { signal }: BuildWatch): Promise<BuildOutcome> {
    await this.#held(signal);
    this.#end(workspaceId);
    return SUCCEEDED;
  }

  destroy(end: RuntimeEnd, watch: BuildWatch): Promise<BuildOutcome> {
    return this.stop(end, watch);
  }

  async runTurn(turn: RuntimeTurn, { signal, message }: TurnWatch): Promise<TurnOutcome> {
    const status = /^ERR(\d{3})$/.exec(turn.prompt)?.[1];
    const refused = status ?? (this.#unreachable(turn.model) ? '503' : null);
    try {
      await this.#sleep(/^SLOW /.test(turn.prompt) ? SLOW_ANSWER_MS : ANSWER_MS, signal);
      if (refused !== null) return failure(Number(refused));
      const command = /^RUN: (.*)$/s.exec(turn.prompt)?.[1];
      if (command === undefined) message({ role: 'assistant', text: 'Hello.' });
      else return await this.#command(turn, command, { signal, message });
      return { outcome: 'answered' };
    } catch {
      return { outcome: 'interrupted' };
    }
  }

  survivors(): Promise<readonly Compute[]> {
    return Promise.resolve([...this.#machines].map(([workspaceId, { run }]) => ({ workspaceId, run })));
  }

  async sweep(run: string): Promise<number> {
    const found = (await this.survivors()).filter((one) => one.run === run);
    for (const { workspaceId } of found) this.#end(workspaceId);
    return found.length;
  }

  close(): Promise<void> {
    this.letGo();
    for (const workspaceId of this.#machines.keys()) this.#end(workspaceId);
    return Promise.resolve();
  }

  /** The agent of a workspace dies: `disconnected`, its lifecycle stays. */
  killAgent(workspaceId: string): void {
    this.#end(workspaceId);
  }

  async #live({ agent }: RuntimeStart, signal: AbortSignal): Promise<void> {
    const agentId = agent.id;
    const lifecycle = (state: 'starting' | 'ready' | 'start_error') =>
      this.#tell({ agentId, event: 'lifecycle', state });
    try {
      await this.#agents.opened;
      await this.#sleep(this.connectMs, signal);
      this.#tell({ agentId, event: 'connected' });
      await this.#sleep(STARTING_MS, signal);
      lifecycle('starting');
      this.#tell({ agentId, event: 'log', level: 'info', text: 'startup' });
      await this.#sleep(SCRIPT_MS + agent.startDelayMs, signal);
      lifecycle((agent.startExit ?? 0) === 0 ? 'ready' : 'start_error');
    } catch {
      // Its machine ended first.
    }
  }

  async #command(turn: RuntimeTurn, command: string, { signal, message }: TurnWatch): Promise<TurnOutcome> {
    const machine = this.#machines.get(turn.workspaceId ?? '');
    if (machine === undefined) return { outcome: 'no_agent' };
    const seconds = Number(/\bsleep (\d+)/.exec(command)?.[1] ?? '0');
    // Either the turn is interrupted or the machine goes away under it.
    const ends = AbortSignal.any([signal, machine.end.signal]);
    const slept = await this.#sleep(seconds * 60_000, ends).then(
      () => true,
      () => false,
    );
    if (!slept) return { outcome: signal.aborted ? 'interrupted' : 'no_agent' };
    message({ role: 'tool', command, output: 'from-workspace\n', exitCode: 0 });
    message({ role: 'assistant', text: 'It said from-workspace.' });
    return { outcome: 'answered' };
  }

  /** A cancelled build waits no longer. */
  async #held(signal: AbortSignal): Promise<void> {
    const canceled = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.#builds.opened, canceled]);
    signal.throwIfAborted();
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await pause(ms * this.timeScale, undefined, { signal });
  }

  #end(workspaceId: string): void {
    const machine = this.#machines.get(workspaceId);
    if (machine === undefined) return;
    this.#machines.delete(workspaceId);
    machine.end.abort();
    this.#tell({ agentId: machine.agentId, event: 'disconnected' });
  }
}

function failure(statusCode: number): TurnOutcome {
  const failed = { outcome: 'failed', message: `simulated ${statusCode}`, statusCode } as const;
  switch (statusCode) {
    case 401:
      return { ...failed, kind: 'auth', retryable: false };
    case 429:
      return { ...failed, kind: 'rate_limit', retryable: true };
    case 400:
      return { ...failed, kind: 'generic', retryable: false };
    default:
      return { ...failed, kind: 'overloaded', retryable: true };
  }
}
