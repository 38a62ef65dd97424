/** The two streams of a run: captured, uploaded, and read by the template's counter on the way. */
import { createCounter, type Counter } from '../../policies/commands/counts/counter.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { OUTPUT_STREAMS, type OutputStream } from '../../schemas/keys.ts';
import type { CountRule } from '../../schemas/verify/action.ts';
import type { StreamSummary } from '../../schemas/verify/report.ts';
import { createCapture } from './capture.ts';
import type { GatewayClient } from './gateway-client.ts';
import { createLineReader } from './lines.ts';
import { createUploader } from './upload.ts';

export interface RunOutput {
  write(stream: OutputStream, bytes: Uint8Array): void;
  /** `null` for a template that runs no tests. */
  readonly counter: Counter | null;
  /** Ends both streams, waits until every chunk is acknowledged or given up, and says what became of them. */
  close(): Promise<Readonly<Record<OutputStream, StreamSummary>>>;
}

export interface OutputSettings {
  readonly client: GatewayClient;
  readonly task: string;
  readonly keepBytes: number;
  readonly flushMs: number;
  /** How long output is kept while nobody takes it. */
  readonly patienceMs: number;
  readonly counts: CountRule | null;
}

export function openOutput({ client, task, keepBytes, flushMs, patienceMs, counts }: OutputSettings): RunOutput {
  const counter = counts === null ? null : createCounter(counts.parser);
  const open = (stream: OutputStream) => {
    const uploader = createUploader(client, task, stream, patienceMs);
    const capture = createCapture({ keepBytes, flushMs, onChunk: (bytes) => uploader.put(bytes) });
    const lines = createLineReader(
      (line) => counter?.line(stream, line),
      () => counter?.lost(),
    );
    return { uploader, capture, lines };
  };
  const streams = { stdout: open('stdout'), stderr: open('stderr') };

  async function closeStream(stream: OutputStream): Promise<StreamSummary> {
    const { capture, lines, uploader } = streams[stream];
    lines.end();
    const { bytes, stored, truncated, storedDigest, fullDigest, chunks } = capture.end();
    const failed = await uploader.settled();
    return {
      bytes,
      stored,
      truncated,
      stored_digest: storedDigest,
      full_digest: fullDigest,
      chunks,
      chunks_failed: failed,
    };
  }

  return {
    counter,
    write(stream, bytes) {
      streams[stream].capture.write(bytes);
      if (counter !== null) streams[stream].lines.write(bytes);
    },
    async close() {
      const [stdout, stderr] = await Promise.all(OUTPUT_STREAMS.map(closeStream));
      return { stdout: stdout ?? EMPTY_STREAM, stderr: stderr ?? EMPTY_STREAM };
    },
  };
}

const NOTHING = contentDigest(new Uint8Array());

/** A stream that nothing was written to. */
export const EMPTY_STREAM: StreamSummary = {
  bytes: 0,
  stored: 0,
  truncated: false,
  stored_digest: NOTHING,
  full_digest: NOTHING,
  chunks: 0,
  chunks_failed: 0,
};
