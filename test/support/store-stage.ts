/** One server for a suite, with the stores that most tests of it need. */
import { afterAll, beforeAll } from 'vitest';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import type { ControlStore, GatewayStore, StoreReader } from '../../activities/store/port.ts';
import { storeReader } from '../../activities/store/reader.ts';
import { startStoreServer, type StoreServer } from './store-server.ts';

export interface StoreStage {
  readonly server: StoreServer;
  readonly gateway: GatewayStore;
  /** Another replica of the gateway, on a connection of its own. */
  readonly otherGateway: GatewayStore;
  readonly control: ControlStore;
  readonly reader: StoreReader;
  readonly gatewayConnection: StoreConnection;
  readonly controlConnection: StoreConnection;
}

/** Starts everything before the suite and ends it after; call the answer inside tests. */
export function useStoreStage(program: string): () => StoreStage {
  let stage: StoreStage | null = null;
  let connections: readonly StoreConnection[] = [];
  beforeAll(async () => {
    const server = await startStoreServer({ program });
    const connect = (user: 'gateway' | 'control' | 'reader') => connectStore(server.settings(user));
    const [gatewayConnection, otherConnection, controlConnection, readerConnection] = await Promise.all([
      connect('gateway'),
      connect('gateway'),
      connect('control'),
      connect('reader'),
    ]);
    connections = [gatewayConnection, otherConnection, controlConnection, readerConnection];
    stage = {
      server,
      gateway: gatewayStore(gatewayConnection),
      otherGateway: gatewayStore(otherConnection),
      control: controlStore(controlConnection),
      reader: storeReader(readerConnection),
      gatewayConnection,
      controlConnection,
    };
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await stage?.server.close();
  });
  return () => {
    if (stage === null) throw new Error('The stage is set before the tests, not while they are collected.');
    return stage;
  };
}
