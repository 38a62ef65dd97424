/** The server that a recording is replayed against, and what stands for what: recorded ids and tokens for its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULT_PARAMETERS } from '../../../local/coder/faults.ts';
import { type LocalCoder, startLocalCoder } from '../../../local/coder/main.ts';
import type { LocalCoderOptions } from '../../../local/coder/settings.ts';
import { SimulatedRuntime } from '../../../local/coder/simulated-runtime.ts';
import type { Parameter } from '../../../local/coder/state/records.ts';
import type { Exchange } from './fixture.ts';

/** Fiftyfold: the quarter of an hour that the recording took is over in seconds. */
const TIME_SCALE = 0.02;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export class World {
  readonly runtime = new SimulatedRuntime({
    timeScale: TIME_SCALE,
    neverConnects: (name) => name.startsWith('agent-never'),
    unreachable: (model) => model === 'gpt-5',
  });
  readonly #names = new Map<string, string>();
  readonly #directory = mkdtempSync(join(tmpdir(), 'portcullis-coder-'));
  #coder: LocalCoder | null = null;

  constructor() {
    // Longer than there, so that its build has ended before.
    this.runtime.connectMs = 1_000;
  }

  async start(options: Partial<LocalCoderOptions> = {}): Promise<void> {
    await this.#coder?.close();
    this.runtime.timeScale = options.timeScale ?? TIME_SCALE;
    this.#coder = await startLocalCoder({
      stateFile: join(this.#directory, 'state.db'),
      runtime: this.runtime,
      timeScale: TIME_SCALE,
      requestsPerMinute: null,
      tickMs: 10_000,
      // Longer than there: what lies between two requests over HTTP has to be seen on a fast clock.
      interruptMs: 30_000,
      ...options,
    });
  }

  async close(): Promise<void> {
    await this.#coder?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get url(): string {
    return this.#coder?.url ?? '';
  }

  /** From now on the recorded text stands for this one. */
  learn(recorded: string, live: string): void {
    this.#names.set(recorded, live);
  }

  knows(recorded: string): boolean {
    return this.#names.has(recorded);
  }

  live(text: string): string {
    return text.replaceAll(
      /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|<[A-Z_]+TOKEN>/g,
      (name) => this.#names.get(name) ?? name,
    );
  }

  async ask(exchange: Pick<Exchange, 'method' | 'path' | 'auth' | 'sent' | 'bypass'>): Promise<Answer> {
    const { method, path, auth, sent } = exchange;
    const headers = new Headers();
    const [name, value] = (auth === 'default' ? 'Coder-Session-Token: <API_TOKEN>' : (auth ?? '')).split(': ');
    if (name !== undefined && value !== undefined) headers.set(name, this.live(value));
    if (exchange.bypass === true) headers.set('X-Coder-Bypass-Ratelimit', 'true');
    const body = sent === undefined ? null : this.live(typeof sent === 'string' ? sent : JSON.stringify(sent));
    const response = await fetch(`${this.url}${this.live(path)}`, { method, headers, body });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, body: text === '' || !isJson ? text : (JSON.parse(text) as unknown) };
  }
}

/** The recorded template: what its archive said, in the form that the local Coder takes. */
export function recordedTemplate(): string {
  const ticket: Parameter = {
    name: 'ticket',
    type: 'string',
    formType: 'input',
    mutable: true,
    required: false,
    defaultValue: 'T-0',
    options: [],
    min: null,
    max: null,
  };
  const names = ['build_seconds', 'fail_on', 'start_exit'];
  const parameters = FAULT_PARAMETERS.filter(({ name }) => names.includes(name));
  return JSON.stringify({ parameters: [...parameters, ticket] });
}
