/**
 * A connection to the store that is checked before it is believed: on the first connect and on every reconnect the
 * server's settings are read, and until they are known to be safe every call is refused.
 *
 * Nothing is queued while the store is away: a call then fails at once, and a call in flight fails when its time is up.
 *
 * @example const store = gatewayStore(await connectStore({ url: 'redis://127.0.0.1:6379', user: 'gateway', password }))
 */
import { Redis } from 'ioredis';
import { portcullisError, type PortcullisError } from '../../schemas/errors.ts';
import { storeFailure } from './failures.ts';
import { askServer, judgeServer, type SafetyFinding } from './safety.ts';
import type { ADMIN_USER, StoreUser } from './users.ts';

export interface StoreSettings {
  /** `redis://host:port`, or `rediss://` for TLS; credentials in it are ignored. */
  readonly url: string;
  readonly user: StoreUser | typeof ADMIN_USER;
  readonly password: string;
  /** How long one call may take, milliseconds; the socket is given up after as long without an answer. Default 2000. */
  readonly commandTimeoutMs?: number;
  /** How long the first connect may take, milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
}

export interface StoreConnection {
  /** Runs `work` on a connection that is believed. @throws `store_unavailable`, `store_unsafe`, `store_full` */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /** True while calls are served: the connection stands and its server was found safe. */
  isBelieved(): boolean;
  close(): Promise<void>;
}

/** Never more calls in flight than this: more would only pile up before a server that does not keep up. */
const MAX_IN_FLIGHT = 4096;

/** @throws `store_unavailable` when no server answers in time, `store_unsafe` when one does that must not be used */
export async function connectStore(settings: StoreSettings): Promise<StoreConnection> {
  const connection = new CheckedConnection(settings);
  try {
    await connection.firstBelief(settings.connectTimeoutMs ?? 5_000);
    return connection;
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

/** What `doctor` prints: everything about the server that is unsafe or needs a look. Connects as any user. */
export async function checkStoreSafety(settings: StoreSettings): Promise<readonly SafetyFinding[]> {
  const redis = openClient(settings, null);
  redis.on('error', () => {});
  try {
    await redis.connect();
    return judgeServer(await askServer(redis));
  } catch (thrown) {
    throw storeFailure(thrown);
  } finally {
    redis.disconnect();
  }
}

class CheckedConnection implements StoreConnection {
  readonly #redis: Redis;
  #doubt: PortcullisError | null = portcullisError('store_unavailable', { reason: 'not connected yet' });
  #inFlight = 0;
  readonly #onChange = new Set<() => void>();

  constructor(settings: StoreSettings) {
    this.#redis = openClient(settings, (attempt) => Math.min(20 * 2 ** attempt, 500));
    this.#redis.on('ready', () => void this.#check());
    this.#redis.on('close', () => {
      // An unsafe server stays unsafe until a check says otherwise.
      if (this.#doubt?.code !== 'store_unsafe')
        this.#set(portcullisError('store_unavailable', { reason: 'no connection' }));
    });
    this.#redis.on('error', (error: unknown) => {
      if (this.#doubt !== null && this.#doubt.code !== 'store_unsafe') this.#set(storeFailure(error));
    });
    void this.#redis.connect().catch(() => {});
  }

  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.#doubt !== null) throw this.#doubt;
    if (this.#inFlight >= MAX_IN_FLIGHT)
      throw portcullisError('store_unavailable', { reason: 'too many calls at once' });
    this.#inFlight += 1;
    try {
      return await work(this.#redis);
    } catch (thrown) {
      throw storeFailure(thrown);
    } finally {
      this.#inFlight -= 1;
    }
  }

  isBelieved(): boolean {
    return this.#doubt === null;
  }

  /** Settles with the first check, or when the time is up. */
  async firstBelief(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const look = () => {
      if (this.#doubt === null || this.#doubt.code === 'store_unsafe') resolve(undefined);
    };
    this.#onChange.add(look);
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    look();
    await promise;
    clearTimeout(timer);
    this.#onChange.delete(look);
    if (this.#doubt !== null) throw this.#doubt;
  }

  async close(): Promise<void> {
    this.#set(portcullisError('store_unavailable', { reason: 'closed' }));
    this.#redis.removeAllListeners('ready');
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#redis.once('end', () => resolve(undefined));
    // Between two attempts there is no socket whose end could be waited for.
    const idle = !['connecting', 'connect', 'ready'].includes(this.#redis.status);
    this.#redis.disconnect();
    if (idle) return;
    // A frozen server never answers the farewell.
    const timer = setTimeout(() => resolve(undefined), 500);
    await promise;
    clearTimeout(timer);
  }

  async #check(): Promise<void> {
    try {
      const unsafe = judgeServer(await askServer(this.#redis)).filter((finding) => finding.severity === 'unsafe');
      if (unsafe.length === 0) {
        this.#set(null);
        return;
      }
      this.#set(portcullisError('store_unsafe', { reason: unsafe.map((finding) => finding.detail).join('; ') }));
    } catch (thrown) {
      this.#set(storeFailure(thrown));
    }
    // Looked at again with the next connection: an operator may have corrected it.
    this.#redis.disconnect(true);
  }

  #set(doubt: PortcullisError | null): void {
    this.#doubt = doubt;
    for (const look of this.#onChange) look();
  }
}

function openClient(settings: StoreSettings, retryStrategy: ((attempt: number) => number) | null): Redis {
  const commandTimeout = settings.commandTimeoutMs ?? 2_000;
  return new Redis(settings.url, {
    username: settings.user,
    password: settings.password,
    connectionName: `portcullis-${settings.user}`,
    // CLIENT SETINFO came with 7.2, and an ACL rule that names it keeps a 7.0 from starting.
    disableClientInfo: true,
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    socketTimeout: commandTimeout,
    connectTimeout: commandTimeout,
    retryStrategy,
  });
}
