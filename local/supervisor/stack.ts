/**
 * The supervised local stack: store, Temporal and our parts side by side, each waited for, watched and started again when
 * it ends. Where it listens and who runs is in `.portcullis/state.json` at every moment.
 *
 * @example const stack = await startStack(options, (step) => console.error(step.text)); await stack.stop()
 */
import { portcullisError } from '../../schemas/errors.ts';
import { ensureCoderTokens } from '../coder/tokens.ts';
import { ensureKeys, storePasswords } from '../keys.ts';
import { releaseLock, takeLock } from '../lock.ts';
import { choosePorts } from '../ports.ts';
import { identify, stop, type ProcessIdentity } from '../processes.ts';
import {
  PORT_NAMES,
  makeStateDirectories,
  readState,
  recordedProcesses,
  writeState,
  type LocalState,
  type PartName,
  type PartState,
  type Ports,
} from '../state.ts';
import { installUsers } from '../store.ts';
import { askNamespace, registerSearchAttributes } from '../temporal.ts';
import type { StackOptions } from './options.ts';
import { Part } from './part.ts';
import { coderPlan } from './coder-plan.ts';
import { servicePlans, stackAddresses, storePlan, temporalPlan, type StackAddresses } from './plans.ts';

/** What people are told while it starts and runs. */
export interface StackStep {
  readonly part: PartName | 'supervisor';
  readonly text: string;
}

export interface Stack {
  readonly state: () => LocalState;
  /** Stops every part in the reverse order, writes that down and gives the lock back. */
  stop(): Promise<void>;
}

/** Another supervisor has this state directory. */
export interface StackElsewhere {
  readonly holder: ProcessIdentity;
}

/**
 * Starts every part and resolves when all serve and `prepare` is done.
 * @returns the running supervisor's identity instead when there is one.
 * @throws `stack_start_failed`, `binary_missing`, `temporal_unavailable`, `store_unavailable`; nothing is then left running
 */
export async function startStack(
  options: StackOptions,
  say: (step: StackStep) => void,
  signal: AbortSignal,
  prepare: (addresses: StackAddresses) => Promise<void> = () => Promise.resolve(),
): Promise<Stack | StackElsewhere> {
  makeStateDirectories(options.paths);
  const holder = takeLock(options.paths.lock);
  if (holder !== null) return { holder };
  const supervisor = new Supervisor(options, say);
  const abort = () => void supervisor.stop();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await supervisor.start(prepare);
    if (signal.aborted) throw portcullisError('interrupted');
    return supervisor;
  } catch (error) {
    await supervisor.stop();
    throw signal.aborted ? portcullisError('interrupted') : error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

class Supervisor implements Stack {
  readonly #options: StackOptions;
  readonly #say: (step: StackStep) => void;
  readonly #parts = new Map<PartName, Part>();
  #state: LocalState;
  #stopping: Promise<void> | null = null;

  constructor(options: StackOptions, say: (step: StackStep) => void) {
    this.#options = options;
    this.#say = say;
    this.#state = {
      schema: 'portcullis/local-state/v1',
      supervisor: identify(process.pid),
      startedAt: Date.now(),
      ready: false,
      ports: options.preferredPorts,
      parts: emptyParts(),
    };
  }

  readonly state = (): LocalState => this.#state;

  async start(prepare: (addresses: StackAddresses) => Promise<void>): Promise<void> {
    const { paths } = this.#options;
    const before = readState(paths);
    if (before !== null) await this.#reap(before);
    await ensureKeys(paths.keys);
    if (this.#options.coder === null) ensureCoderTokens(paths.keys);
    else this.#external('coder', this.#options.coder.url);
    const ports = await this.#choosePorts(before?.ports ?? this.#options.preferredPorts);
    this.#update({ ports });
    await Promise.all([this.#useOperatorsStore(ports), this.#useOperatorsTemporal()]);
    // All at once: our parts wait for the servers by themselves, and loading their code takes as long as the servers do.
    const plans = [
      ...(this.#options.storeUrl === null ? [storePlan(this.#options, ports)] : []),
      ...(this.#options.temporalAddress === null ? [temporalPlan(this.#options, ports)] : []),
      ...(this.#options.coder === null ? [coderPlan(this.#options, ports)] : []),
      ...servicePlans(this.#options, ports),
    ];
    await Promise.all(plans.map((plan) => this.#startPart(new Part(plan, this.#changed))));
    await prepare(stackAddresses(this.#options, ports));
    this.#update({ ready: true });
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    // Ours first, while what they need still answers; within a level side by side.
    await this.#stopParts(['gateway', 'control', 'gate', 'egress']);
    await this.#stopParts(['coder']);
    await this.#stopParts(['temporal', 'store']);
    this.#update({ ready: false, supervisor: null });
    releaseLock(this.#options.paths.lock);
  }

  async #stopParts(names: readonly PartName[]): Promise<void> {
    await Promise.all(names.map(async (name) => this.#parts.get(name)?.stop()));
  }

  async #useOperatorsStore(ports: Ports): Promise<void> {
    const { storeUrl, tenant, paths } = this.#options;
    if (storeUrl === null) return;
    await installUsers(storeUrl, [tenant], storePasswords(paths.keys));
    this.#external('store', stackAddresses(this.#options, ports).store);
  }

  async #useOperatorsTemporal(): Promise<void> {
    const { temporalAddress, namespace } = this.#options;
    if (temporalAddress === null) return;
    const refusal = await askNamespace(temporalAddress, namespace);
    if (refusal !== null) throw portcullisError('temporal_unavailable', { reason: refusal });
    await registerSearchAttributes(temporalAddress, namespace);
    this.#external('temporal', temporalAddress);
  }

  async #startPart(part: Part): Promise<void> {
    const { name } = part.plan;
    if (this.#stopping !== null) throw portcullisError('interrupted');
    this.#parts.set(name, part);
    const began = performance.now();
    await part.start();
    this.#say({ part: name, text: `ready at ${part.plan.address} after ${Math.round(performance.now() - began)} ms` });
  }

  #external(name: PartName, address: string): void {
    const external: PartState = { ...emptyPart(), state: 'external', address, since: Date.now() };
    this.#update({ parts: { ...this.#state.parts, [name]: external } });
    this.#say({ part: name, text: `yours, at ${address}` });
  }

  /** Ends what a supervisor that was killed left behind: same pid and same start, or it is somebody else. */
  async #reap(before: LocalState): Promise<void> {
    const outcomes = await Promise.all(
      recordedProcesses(before).map(async ([name, found]) => [name, found, await stop(found, 10_000)] as const),
    );
    for (const [part, { pid }, outcome] of outcomes) {
      if (outcome !== 'absent') this.#say({ part, text: `stopped process ${pid}, left over from a killed supervisor` });
    }
  }

  async #choosePorts(wanted: Ports): Promise<Ports> {
    const chosen = await choosePorts(PORT_NAMES.map((name) => wanted[name]));
    const ports = { ...wanted };
    PORT_NAMES.forEach((name, index) => {
      const port = chosen[index] ?? wanted[name];
      if (wanted[name] !== 0 && port !== wanted[name])
        this.#say({ part: 'supervisor', text: `port ${wanted[name]} (${name}) is taken; using ${port}` });
      ports[name] = port;
    });
    return ports;
  }

  readonly #changed = ({ plan, state }: Part): void => {
    const before = this.#state.parts[plan.name];
    if (state.restarts > before.restarts) {
      this.#say({ part: plan.name, text: `ended; starting it again (restart ${state.restarts}, log ${plan.log})` });
    } else if (state.state === 'ready' && state.restarts > 0) {
      this.#say({ part: plan.name, text: `serves again at ${plan.address}` });
    }
    this.#update({ parts: { ...this.#state.parts, [plan.name]: state } });
  };

  #update(change: Partial<LocalState>): void {
    this.#state = { ...this.#state, ...change };
    writeState(this.#options.paths, this.#state);
  }
}

function emptyPart(): PartState {
  return { state: 'stopped', process: null, address: '', since: 0, restarts: 0, log: null };
}

function emptyParts(): LocalState['parts'] {
  return {
    store: emptyPart(),
    temporal: emptyPart(),
    gateway: emptyPart(),
    control: emptyPart(),
    gate: emptyPart(),
    egress: emptyPart(),
    coder: emptyPart(),
  };
}
