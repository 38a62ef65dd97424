/** What the gateway counts. One registry for each gateway, so that two in one process do not mix. */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

export interface GatewayMetrics {
  readonly registry: Registry;
  /** Calls at the door by method and answer (gRPC status name, `passed` for OK). */
  readonly doorCalls: Counter<'method' | 'answer'>;
  readonly parkedPolls: Gauge;
  readonly connections: Gauge<'protocol'>;
  /** HTTP answers by part and status class. */
  readonly httpAnswers: Counter<'part' | 'status'>;
  /** Refusals by code of the catalogue. */
  readonly refusals: Counter<'code'>;
  readonly chunks: Counter<'stream' | 'outcome'>;
}

export function gatewayMetrics(): GatewayMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    doorCalls: new Counter({
      name: 'portcullis_door_calls_total',
      help: 'Calls at the door by method and answer.',
      labelNames: ['method', 'answer'],
      registers,
    }),
    parkedPolls: new Gauge({
      name: 'portcullis_door_parked_polls',
      help: 'Polls that wait for a task.',
      registers,
    }),
    connections: new Gauge({
      name: 'portcullis_gateway_connections',
      help: 'Open connections by protocol.',
      labelNames: ['protocol'],
      registers,
    }),
    httpAnswers: new Counter({
      name: 'portcullis_gateway_http_answers_total',
      help: 'HTTP answers by part and status class.',
      labelNames: ['part', 'status'],
      registers,
    }),
    refusals: new Counter({
      name: 'portcullis_gateway_refusals_total',
      help: 'Refusals by code of the error catalogue.',
      labelNames: ['code'],
      registers,
    }),
    chunks: new Counter({
      name: 'portcullis_gateway_output_chunks_total',
      help: 'Chunks of output by stream and outcome.',
      labelNames: ['stream', 'outcome'],
      registers,
    }),
  };
}
