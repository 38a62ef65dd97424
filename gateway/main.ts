/**
 * The gateway process: connections and keys first, then every part over one context.
 *
 * @example const gateway = await startGateway(settings); await gateway.close()
 */
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { publicKeys } from '../activities/signing/public-keys.ts';
import { loadCommandPolicy } from '../activities/policy/load.ts';
import { loadWorkspaceRegistry } from '../activities/workspaces/registry.ts';
import { loadRoutingPolicy } from '../activities/policy/routing.ts';
import { connectStore, type StoreConnection } from '../activities/store/connect.ts';
import { gateReader } from '../activities/store/gate-reader.ts';
import { gatewayStore } from '../activities/store/gateway.ts';
import { storeReader } from '../activities/store/reader.ts';
import { a2aRouter } from './a2a/router.ts';
import { startSweeping } from './a2a/start.ts';
import { buildContext } from './build-context.ts';
import { serveGateway, type RunningGateway } from './gateway.ts';
import { harnessRouter } from './harness/router.ts';
import { loadGatewayKeys } from './keys.ts';
import type { GatewayLimits } from './limits.ts';
import type { ListenSettings } from './listen.ts';
import { modelRouter, type ModelRouteLimits } from './egress/model-router.ts';
import { egressRouter, type EgressAccess } from './egress/router.ts';
import { orchestrationRouter } from './operator/orchestration-router.ts';
import { gatesRouter } from './operator/gates-router.ts';
import { recordsRouter } from './operator/records-router.ts';
import { operatorRouter } from './operator/router.ts';

export interface GatewaySettings extends ListenSettings {
  readonly tenants: readonly string[];
  /** Host and port of Temporal's frontend. */
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Passwords of the store's users `gateway` and `reader`. */
  readonly store: { readonly url: string; readonly gatewayPassword: string; readonly readerPassword: string };
  /** File (mode 0600) with 32 or more random bytes as base64url: the same for every replica. */
  readonly gatewayKeyFile: string;
  /** PEM file with the public half of the key that signs actions. */
  readonly actionPublicKeyFile: string;
  /** PEM file with the public half of the gate worker's key; `gate.pub.pem` beside the action key's when left out. */
  readonly gatePublicKeyFile?: string;
  /** The control plane's own bare repositories, and where uploaded bundles go. */
  readonly repositoriesDir: string;
  readonly incomingDir: string;
  /** Documents of the command policy. */
  readonly commandPolicyDir: string;
  /** Where `/egress/…` and `/model/…` lead; `null` where there is no egress. */
  readonly egress?: EgressAccess | null;
  /** Which model is each role's; the registry that comes with the program when it is absent. */
  readonly workspaceRegistryFile?: string;
  readonly modelLimits?: Partial<ModelRouteLimits>;
  /** Documents of the routing policy; those that come with the program when it is absent. */
  readonly routingPolicyDir?: string;
  readonly logger: Logger;
  readonly limits?: Partial<GatewayLimits>;
}

/** @throws `setting_invalid`, `store_unavailable`, `store_unsafe`. Temporal may still be away: `/readyz` says so. */
export async function startGateway(settings: GatewaySettings): Promise<RunningGateway> {
  const { url, gatewayPassword, readerPassword } = settings.store;
  const [keys, commandPolicy, routingPolicy, { registry }] = await Promise.all([
    loadGatewayKeys(settings.gatewayKeyFile, settings.actionPublicKeyFile),
    loadCommandPolicy(settings.commandPolicyDir),
    loadRoutingPolicy(settings.routingPolicyDir),
    loadWorkspaceRegistry(settings.workspaceRegistryFile),
  ]);
  const stores = await connectAll([
    connectStore({ url, user: 'gateway', password: gatewayPassword }),
    connectStore({ url, user: 'reader', password: readerPassword }),
  ]);
  const [gateway, reader] = stores;
  const connection = temporalConnection(settings.temporalAddress);
  const closeConnections = async () => {
    await Promise.all([connection.close(), ...stores.map((store) => store.close())]);
  };
  const { tenants, temporalAddress, namespace, repositoriesDir, incomingDir, logger } = settings;
  const ctx = buildContext(
    {
      tenants,
      store: gatewayStore(gateway),
      reader: storeReader(reader),
      temporal: new Client({ connection, namespace }),
      namespace,
      temporalAddress,
      keys,
      repositoriesDir,
      incomingDir,
      commandPolicy,
      routingPolicy,
      logger,
    },
    settings.limits,
  );
  try {
    const running = await serveGateway(ctx, settings, {
      routers: [
        a2aRouter(ctx),
        operatorRouter(ctx),
        orchestrationRouter(ctx, reader),
        gatesRouter(ctx, { reader: gateReader(reader), keys: publicKeys(gatePublicKeyFile(settings)) }),
        recordsRouter(ctx, reader),
        egressRouter(ctx, settings.egress ?? null),
        modelRouter(
          { ctx, connection: gateway },
          { access: settings.egress ?? null, registry, limits: settings.modelLimits ?? {} },
        ),
        harnessRouter(ctx, gateway),
      ],
    });
    const sweeping = startSweeping(ctx);
    return {
      ...running,
      close: async () => {
        sweeping.close();
        await running.close();
        await closeConnections();
      },
    };
  } catch (thrown) {
    await closeConnections();
    throw thrown;
  }
}

function gatePublicKeyFile(settings: GatewaySettings): string {
  return settings.gatePublicKeyFile ?? join(dirname(settings.actionPublicKeyFile), 'gate.pub.pem');
}

/**
 * Without the client's own retries: whoever calls is told at once that Temporal is away and repeats it, and a retry that is
 * still waiting when the channel closes would throw where nobody can catch it.
 */
function temporalConnection(address: string): Connection {
  return Connection.lazy({
    address,
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
}

/** Both or none: when one fails the other is closed again. */
async function connectAll(
  connecting: readonly [Promise<StoreConnection>, Promise<StoreConnection>],
): Promise<readonly [StoreConnection, StoreConnection]> {
  try {
    return await Promise.all(connecting);
  } catch (thrown) {
    for (const one of await Promise.allSettled(connecting)) if (one.status === 'fulfilled') await one.value.close();
    throw thrown;
  }
}
