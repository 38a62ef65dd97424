/** The Temporal dev server of the local stack and of the tests: how it is started, and when it serves. */
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { portcullisError } from '../schemas/errors.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../schemas/search-attributes.ts';
import { LOOPBACK } from './ports.ts';

export interface DevServerOptions {
  readonly port: number;
  /** `null` starts without the web UI. */
  readonly uiPort: number | null;
  /** SQLite file; `null` keeps everything in memory. */
  readonly databaseFile: string | null;
  /** Port of its own Prometheus endpoint; chosen by the server when `null`. */
  readonly metricsPort?: number | null;
}

/** Arguments of the Temporal CLI for a server on loopback that knows our search attributes. */
export function devServerArguments(options: DevServerOptions): readonly string[] {
  return [
    'server',
    'start-dev',
    ...['--ip', LOOPBACK, '--port', String(options.port)],
    ...(options.uiPort === null
      ? ['--headless']
      : ['--ui-ip', LOOPBACK, '--ui-port', String(options.uiPort), '--ui-disable-news-fetch']),
    ...(options.databaseFile === null ? [] : databaseArguments(options.databaseFile)),
    ...(options.metricsPort == null ? [] : ['--metrics-port', String(options.metricsPort)]),
    ...SEARCH_ATTRIBUTE_NAMES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...['--log-level', 'warn', '--log-format', 'json'],
  ];
}

/** Ten times the throughput of the defaults under load; survives a killed process, not a lost machine (DESIGN section 5). */
function databaseArguments(file: string): readonly string[] {
  const pragmas = ['journal_mode=wal', 'synchronous=normal'];
  return ['--db-filename', file, ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma])];
}

/**
 * Waits until the namespace can be described, which is later than the port's first accept.
 * @throws `temporal_unavailable` after `deadlineMs`, or as soon as `abandoned` says that waiting is pointless.
 */
export async function awaitTemporal(
  address: string,
  namespace: string,
  deadlineMs: number,
  abandoned: () => boolean = () => false,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const refusal = await askNamespace(address, namespace);
    if (refusal === null) return;
    if (performance.now() >= deadline || abandoned())
      throw portcullisError('temporal_unavailable', { reason: refusal });
    await delay(50);
  }
}

/** `null` when the namespace answers, otherwise why not. */
export async function askNamespace(address: string, namespace: string): Promise<string | null> {
  try {
    await withConnection(address, ({ workflowService }) => workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export type NamespaceState =
  | { readonly refusal: string }
  | { readonly serverVersion: string; readonly missingSearchAttributes: readonly string[] };

/** What `doctor` tells of a namespace. */
export async function namespaceState(address: string, namespace: string): Promise<NamespaceState> {
  try {
    return await withConnection(address, async ({ workflowService, operatorService }) => {
      const [system, listed] = await Promise.all([
        workflowService.getSystemInfo({}),
        operatorService.listSearchAttributes({ namespace }),
        workflowService.describeNamespace({ namespace }),
      ]);
      return { serverVersion: system.serverVersion, missingSearchAttributes: missingSearchAttributes(listed) };
    });
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

/** Registers those of our search attributes that a server of the operator's lacks. @throws `temporal_unavailable` */
export async function registerSearchAttributes(address: string, namespace: string): Promise<void> {
  try {
    await withConnection(address, async ({ operatorService }) => {
      const missing = missingSearchAttributes(await operatorService.listSearchAttributes({ namespace }));
      if (missing.length === 0) return;
      const keyword = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
      const searchAttributes = Object.fromEntries(missing.map((name) => [name, keyword]));
      await operatorService.addSearchAttributes({ namespace, searchAttributes });
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw portcullisError('temporal_unavailable', { reason }, error);
  }
}

async function withConnection<T>(address: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    return await connection.withDeadline(Date.now() + 3_000, () => work(connection));
  } finally {
    await connection.close();
  }
}

/** Names of ours that the server does not list. */
export function missingSearchAttributes(listed: {
  readonly customAttributes?: Readonly<Record<string, unknown>> | null;
}): readonly string[] {
  const known = Object.keys(listed.customAttributes ?? {});
  return SEARCH_ATTRIBUTE_NAMES.filter((name) => !known.includes(name));
}
