/**
 * What every part of the gateway is given: one total value, made once by `startGateway`. Nothing here is truth; a replica
 * that starts again from the same settings goes on where another stopped.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { GatewayStore, StoreReader } from '../activities/store/port.ts';
import type { LoadedCommandPolicy } from '../policies/commands/types.ts';
import type { LoadedRoutingPolicy } from '../policies/routing/types.ts';
import type { Allowance } from './authority/allowance.ts';
import type { CredentialCache } from './authority/credentials.ts';
import type { GatewayLimits } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';

export interface GatewayContext {
  readonly tenants: readonly string[];
  /** Redis user `gateway`. */
  readonly store: GatewayStore;
  /** Redis user `reader`: the operator API reads as it. */
  readonly reader: StoreReader;
  readonly temporal: Client;
  readonly namespace: string;
  /** Host and port of Temporal's frontend, for the door's own channel. */
  readonly temporalAddress: string;
  /** Unique to this start of this process. */
  readonly replica: string;
  readonly keys: GatewayKeys;
  /** `{repositoriesDir}/{tenant}/{pair}.git`: the control plane's own bare repositories. Only git writes here, as it takes a push. */
  readonly repositoriesDir: string;
  /** `{incomingDir}/{tenant}/…`: bundles that an operator uploaded, for the control worker to import. */
  readonly incomingDir: string;
  readonly commandPolicy: LoadedCommandPolicy;
  readonly routingPolicy: LoadedRoutingPolicy;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly limits: GatewayLimits;
  readonly credentials: CredentialCache;
  /** What one holder may spend here: by `{tenant}/{credential id}`. */
  readonly allowances: { readonly calls: Allowance; readonly bytes: Allowance; readonly exchanges: Allowance };
}

export interface GatewayKeys {
  /** Makes bearers. Never leaves the process; the other secrets are derived from it, each under a label of its own. */
  readonly gatewayKey: Uint8Array;
  /** Makes task ids unguessable: `HMAC(taskIdKey, workflow id, attempt)`. */
  readonly taskIdKey: Uint8Array;
  /** Makes approval tokens: `HMAC(approvalKey, tenant NUL approval id)`. */
  readonly approvalKey: Uint8Array;
  /** Seals task tokens at the door. */
  readonly sealKey: Uint8Array;
  /** What executors verify actions with (Ed25519, PEM). */
  readonly actionPublicKey: { readonly keyId: string; readonly pem: string };
}
