/**
 * One supervised server: started, waited for until it serves, started again when it ends without having been asked to.
 *
 * A part that was ready once is started again for ever, with a growing pause: the others wait for it and lose nothing
 * (invariant 18). A part that was never ready fails the start of the stack.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { stop, type ProcessIdentity } from '../processes.ts';
import type { PartName, PartState } from '../state.ts';
import { launch, type Command, type Launched } from './launch.ts';

export interface PartPlan {
  readonly name: PartName;
  /** Where people find it. */
  readonly address: string;
  readonly log: string;
  /** Made again for each start. */
  readonly command: () => Command | Promise<Command>;
  /** Resolves when it serves; rejects when it does not in time, or as soon as `abandoned` says that its process ended. */
  readonly ready: (abandoned: () => boolean) => Promise<void>;
  /** How long it may take to end by itself once asked. */
  readonly graceMs: number;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Having served this long, the next failure starts with the shortest pause again. */
const STEADY_MS = 30_000;

export class Part {
  readonly plan: PartPlan;
  readonly #changed: (part: Part) => void;
  #state: PartState;
  #stopping = false;
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(plan: PartPlan, changed: (part: Part) => void) {
    this.plan = plan;
    this.#changed = changed;
    this.#state = {
      state: 'stopped',
      process: null,
      address: plan.address,
      since: Date.now(),
      restarts: 0,
      log: plan.log,
    };
  }

  get state(): PartState {
    return this.#state;
  }

  /** Resolves when it serves for the first time. @throws `stack_start_failed` */
  async start(): Promise<void> {
    const first = this.#first();
    this.#running = first.then(
      (launched) => this.#watch(launched),
      () => {},
    );
    await first;
  }

  /** Asks it to end, kills it after its grace. Repeating it is harmless. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake.abort();
    await this.#end();
    await this.#running;
    // A start that was under way may have launched it once more.
    await this.#end();
    this.#become('stopped', null);
  }

  async #end(): Promise<void> {
    const { process: identity } = this.#state;
    if (identity !== null) await stop(identity, this.plan.graceMs);
  }

  async #first(): Promise<Launched> {
    const launched = await this.#launch();
    try {
      await this.#served(launched);
      return launched;
    } catch (error) {
      await stop(launched.identity, this.plan.graceMs);
      this.#become('failed', null);
      throw this.#startFailure(error instanceof Error ? error.message : String(error));
    }
  }

  async #launch(): Promise<Launched> {
    const launched = launch(await this.plan.command(), this.plan.log);
    if (launched === null) throw this.#startFailure('its program cannot be started');
    this.#become('starting', launched.identity);
    return launched;
  }

  async #served(launched: Launched): Promise<void> {
    const gone = new AbortController();
    void launched.ended.then((how) => gone.abort(new Error(`it ended with ${how}`)));
    try {
      await this.plan.ready(() => gone.signal.aborted || this.#stopping);
    } catch (error) {
      // Why its process ended says more than that nobody answered.
      throw gone.signal.aborted ? gone.signal.reason : error;
    }
    gone.signal.throwIfAborted();
    this.#become('ready', launched.identity);
  }

  /** Waits for its end and starts it again, until it is asked to stop. */
  async #watch(first: Launched): Promise<void> {
    let launched: Launched | null = first;
    let pause = FIRST_PAUSE_MS;
    while (!this.#stopping) {
      if (launched !== null) {
        await launched.ended;
        if (this.#steady()) pause = FIRST_PAUSE_MS;
      }
      if (this.#isStopping()) return;
      this.#become('restarting', null, 1);
      await delay(pause, undefined, { signal: this.#wake.signal }).catch(() => {});
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      if (this.#isStopping()) return;
      launched = await this.#startAgain();
    }
  }

  async #startAgain(): Promise<Launched | null> {
    let launched: Launched | null = null;
    try {
      launched = await this.#launch();
      await this.#served(launched);
      return launched;
    } catch {
      // Its log says why; what counts here is that no second copy of it stays behind.
      if (launched !== null) await stop(launched.identity, this.plan.graceMs);
      return null;
    }
  }

  #steady(): boolean {
    return this.#state.state === 'ready' && Date.now() - this.#state.since >= STEADY_MS;
  }

  /** Read through a method: it changes while the loop waits. */
  #isStopping(): boolean {
    return this.#stopping;
  }

  #become(state: PartState['state'], identity: ProcessIdentity | null, restarts = 0): void {
    this.#state = {
      ...this.#state,
      state,
      process: identity,
      since: Date.now(),
      restarts: this.#state.restarts + restarts,
    };
    this.#changed(this);
  }

  #startFailure(reason: string) {
    return portcullisError('stack_start_failed', { part: this.plan.name, reason, log: this.plan.log });
  }
}
