/** What the A2A front counts, in the gateway's own registry. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Why a stream was cut: its reader took nothing for too long, or left; its credential ended; something failed. */
export type CutReason = 'slow' | 'gone' | 'credential' | 'failed';

export interface A2aMetrics {
  /** Streams that are open now. */
  readonly streams: Gauge;
  readonly streamsCut: Counter<'reason'>;
}

export function a2aMetrics(registry: Registry): A2aMetrics {
  const registers = [registry];
  return {
    streams: new Gauge({ name: 'portcullis_a2a_streams', help: 'A2A streams that are open.', registers }),
    streamsCut: new Counter({
      name: 'portcullis_a2a_streams_cut_total',
      help: 'A2A streams that were cut before their end, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}
