/**
 * The door: Temporal's gRPC service, as much of it as an executor needs for its own queue (DESIGN section 2). It keeps no
 * state that a run depends on, so a run in flight survives its restart.
 */
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type handleUnaryCall,
  type ServerInterceptor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import proto from '@temporalio/proto';
import protobuf from 'protobufjs';
import type { Duplex } from 'node:stream';
import { portcullisError } from '../../schemas/errors.ts';
import { bearerOf, parseBearer } from '../authority/bearer.ts';
import { proveConnection } from '../authority/prove.ts';
import type { Connections } from '../connections.ts';
import type { GatewayContext } from '../context.ts';
import type { PresenceKeeper } from '../presence/keeper.ts';
import { DoorCalls } from './calls.ts';
import { isDoorMethod, WORKFLOW_SERVICE } from './rpcs.ts';
import { statusName, statusOf } from './status.ts';
import { Upstream } from './upstream.ts';

export interface Door {
  /** Takes over a connection that speaks HTTP/2. `getPeer()` of its calls is its `remoteAddress`. */
  accept(connection: Duplex): void;
  /** Ends parked polls, lets short calls end, then cuts what is left. */
  close(): Promise<void>;
}

/** A stopped process holds its socket open; a ping that nobody answers shows it. */
const KEEPALIVE = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
const STREAMS_PER_CONNECTION = 32;
const DRAIN_MS = 1_000;

export function openDoor(ctx: GatewayContext, connections: Connections, presence: PresenceKeeper): Door {
  const upstream = new Upstream(ctx.temporalAddress, ctx.namespace, ctx.limits.rpcBytes);
  const calls = new DoorCalls(ctx, upstream, presence);
  const server = new Server({
    'grpc.max_receive_message_length': ctx.limits.rpcBytes,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION,
    ...KEEPALIVE,
    interceptors: [bearerFirst(ctx, connections)],
  });
  for (const { service, methods } of knownServices()) {
    server.addService(rawService(service, methods), implementation(ctx, calls, service, methods));
  }
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    accept: (connection) => injector.injectConnection(connection),
    close: async () => {
      calls.close();
      const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      injector.drain(DRAIN_MS);
      await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
      injector.destroy();
      server.forceShutdown();
      upstream.close();
    },
  };
}

/** A call without a genuine bearer ends before its body is read. */
function bearerFirst(ctx: GatewayContext, connections: Connections): ServerInterceptor {
  return (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, forward) => {
            try {
              const bearer = bearerOf(soleText(metadata.get('authorization')));
              const claim = parseBearer(ctx.keys.gatewayKey, bearer);
              proveConnection(ctx, connections, call.getPeer(), claim);
              ctx.allowances.calls.spend(`${claim.tenant}/${claim.id}`, 1);
            } catch (thrown) {
              const answer = statusOf(thrown);
              ctx.metrics.doorCalls.inc({ method: methodName(method.path), answer: statusName(answer.code) });
              call.sendStatus(answer);
              return;
            }
            forward(metadata);
          },
        }),
    });
}

function methodName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Two bearers are none. */
function soleText(values: readonly (string | Buffer)[]): string | undefined {
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : undefined;
}

interface KnownService {
  readonly service: string;
  readonly methods: readonly string[];
}

/** Every service of the API that the SDK ships: refused by name, and counted. What is unknown even there answers 12. */
function knownServices(): readonly KnownService[] {
  // Its typings describe the messages only; at run time it is the reflection root of all of them.
  const root: unknown = proto;
  if (!(root instanceof protobuf.Root)) throw portcullisError('internal');
  return [
    WORKFLOW_SERVICE,
    'temporal.api.operatorservice.v1.OperatorService',
    'temporal.api.cloud.cloudservice.v1.CloudService',
    'temporal.api.testservice.v1.TestService',
    'grpc.health.v1.Health',
  ].map((service) => ({ service, methods: root.lookupService(service).methodsArray.map(({ name }) => name) }));
}

function rawService(service: string, methods: readonly string[]): ServiceDefinition {
  const raw = (bytes: Buffer): Buffer => bytes;
  return Object.fromEntries(
    methods.map((name) => [
      name,
      {
        path: `/${service}/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: raw,
        requestDeserialize: raw,
        responseSerialize: raw,
        responseDeserialize: raw,
      },
    ]),
  );
}

function implementation(ctx: GatewayContext, calls: DoorCalls, service: string, methods: readonly string[]) {
  return Object.fromEntries(
    methods.map((name): [string, handleUnaryCall<Buffer, Buffer>] => [
      name,
      (call, callback) => {
        const outcome =
          service === WORKFLOW_SERVICE && isDoorMethod(name)
            ? calls.serve(name, call)
            : calls.refuse(name, call, portcullisError('rpc_refused', { method: name }));
        void outcome.then(
          (answer) => {
            const code = 'bytes' in answer ? 0 : answer.code;
            ctx.metrics.doorCalls.inc({ method: name, answer: statusName(code) });
            if ('bytes' in answer) callback(null, answer.bytes);
            else callback(answer);
          },
          // `serve` and `refuse` answer with a status for whatever was thrown.
          (thrown: unknown) => callback(statusOf(thrown)),
        );
      },
    ]),
  );
}
