/**
 * Server-sent events with numbers, heartbeats and an end to patience: a reader that takes nothing for too long is cut off,
 * and holds up nobody meanwhile. A cut breaks the connection; only a finished stream is ended in good form.
 */
import type { Response } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import type { A2aMetrics, CutReason } from './metrics.ts';

export interface StreamSettings {
  /** Milliseconds of silence after which a comment says that the stream lives. */
  readonly heartbeatMs: number;
  /** Milliseconds a reader may take nothing while something waits for it. */
  readonly stallMs: number;
}

export const STREAM_SETTINGS: StreamSettings = { heartbeatMs: 15_000, stallMs: 10_000 };

export class EventStream {
  readonly #res: Response;
  readonly #settings: StreamSettings;
  readonly #metrics: A2aMetrics;
  readonly #beat: NodeJS.Timeout;
  #over = false;

  /** Sends the headers. `mayGoOn` is asked after each silence; `false` cuts the stream. */
  constructor(res: Response, settings: StreamSettings, metrics: A2aMetrics, mayGoOn: () => Promise<boolean>) {
    this.#res = res;
    this.#settings = settings;
    this.#metrics = metrics;
    // Not by express, which would add a charset: the media type has none.
    res.setHeader('Content-Type', 'text/event-stream');
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Accel-Buffering', 'no');
    res.flushHeaders();
    metrics.streams.inc();
    this.#beat = setInterval(() => void this.#heartbeat(mayGoOn), settings.heartbeatMs);
    res.on('close', () => this.#close());
  }

  /**
   * Writes one event and waits until the reader has room for the next.
   * @throws `stream_cut` when the reader is gone or was cut off
   */
  async send(value: unknown, id: number | null): Promise<void> {
    if (this.#res.destroyed) throw portcullisError('stream_cut');
    const frame = `${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
    if (this.#res.write(frame)) return;
    const outcome = await this.#drained();
    if (outcome === 'drained') return;
    this.cut(outcome);
    throw portcullisError('stream_cut');
  }

  end(): void {
    this.#over = true;
    this.#res.end();
  }

  cut(reason: CutReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#metrics.streamsCut.inc({ reason });
    this.#res.destroy();
  }

  #close(): void {
    clearInterval(this.#beat);
    this.#metrics.streams.dec();
    this.cut('gone');
  }

  #drained(): Promise<'drained' | 'slow' | 'gone'> {
    const res = this.#res;
    return new Promise((resolve) => {
      const settle = (outcome: 'drained' | 'slow' | 'gone') => {
        clearTimeout(patience);
        res.off('drain', onDrain).off('close', onClose);
        resolve(outcome);
      };
      const onDrain = () => settle('drained');
      const onClose = () => settle('gone');
      const patience = setTimeout(() => settle('slow'), this.#settings.stallMs);
      res.once('drain', onDrain).once('close', onClose);
    });
  }

  async #heartbeat(mayGoOn: () => Promise<boolean>): Promise<void> {
    if (!(await mayGoOn())) this.cut('credential');
    else if (!this.#res.writableNeedDrain && !this.#over) this.#res.write(': heartbeat\n\n');
  }
}
