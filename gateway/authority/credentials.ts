/**
 * Credential records as this replica last read them. A record is read again at each call, at most once a second; while the
 * store is away what was read within the last minute is still known, and says so.
 */
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';

/** Where records and the time come from: the gateway's store. */
export interface CredentialSource {
  readCredential(tenant: string, id: string): Promise<CredentialRecord | null>;
  now(): Promise<number>;
}

export interface CredentialView {
  /** `null`: the store was read, and there is no such record. */
  readonly record: CredentialRecord | null;
  /** `false`: the store is away and this was read up to a minute ago. */
  readonly current: boolean;
  /** The store's clock, milliseconds, as of now. */
  readonly now: number;
}

export const CURRENT_MS = 1_000;
export const REMEMBERED_MS = 60_000;
const CLOCK_MS = 30_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly record: CredentialRecord | null;
  /** Local monotonic milliseconds. */
  readonly readAt: number;
}

export class CredentialCache {
  readonly #source: CredentialSource;
  readonly #monotonic: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #reading = new Map<string, Promise<Entry>>();
  readonly #endListeners = new Set<(holder: string) => void>();
  #clock: { readonly offset: number; readonly readAt: number } | null = null;

  /** `monotonic`: local milliseconds that never go back. */
  constructor(source: CredentialSource, monotonic: () => number = () => performance.now()) {
    this.#source = source;
    this.#monotonic = monotonic;
  }

  /** @throws `store_unavailable` when the record is neither readable nor remembered. */
  async look(tenant: string, id: string): Promise<CredentialView> {
    const key = `${tenant}/${id}`;
    const known = this.#entries.get(key);
    if (known !== undefined && this.#monotonic() - known.readAt < CURRENT_MS) return this.#view(known, true);
    try {
      return this.#view(await this.#read(key, tenant, id), true);
    } catch (thrown) {
      if (!(thrown instanceof PortcullisError) || thrown.code !== 'store_unavailable') throw thrown;
      const last = this.#entries.get(key);
      if (last === undefined || this.#monotonic() - last.readAt >= REMEMBERED_MS) throw thrown;
      return this.#view(last, false);
    }
  }

  /** Called with `{tenant}/{id}` whenever a credential was read to be revoked, or not to be there. */
  onEnded(listener: (holder: string) => void): void {
    this.#endListeners.add(listener);
  }

  /** Whether the last that was read of it was that. */
  isEnded(holder: string): boolean {
    const known = this.#entries.get(holder);
    return known !== undefined && known.record?.state !== 'active';
  }

  /** Calls that come together wait for one read. */
  async #read(key: string, tenant: string, id: string): Promise<Entry> {
    const under = this.#reading.get(key);
    if (under !== undefined) return under;
    const reading = this.#readNow(key, tenant, id).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(key: string, tenant: string, id: string): Promise<Entry> {
    // Dated by when it was asked, so that a slow answer does not live longer.
    const readAt = this.#monotonic();
    const record = await this.#source.readCredential(tenant, id);
    if (this.#clock === null || readAt - this.#clock.readAt >= CLOCK_MS) {
      this.#clock = { offset: (await this.#source.now()) - this.#monotonic(), readAt };
    }
    const entry = { record, readAt };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    if (record?.state !== 'active') for (const listener of this.#endListeners) listener(key);
    return entry;
  }

  #view(entry: Entry, current: boolean): CredentialView {
    if (this.#clock === null) throw portcullisError('store_unavailable', { reason: 'its clock was never read' });
    return { record: entry.record, current, now: this.#monotonic() + this.#clock.offset };
  }
}
