/**
 * What is kept of one output stream: the first half of the allowance live, the last half as a ring, everything counted and
 * hashed. Memory is bounded by the allowance, whatever the command writes.
 */
import { createStreamHasher } from '../content/hasher.ts';
import type { ContentDigest } from '../../schemas/digest.ts';
import { MAX_CHUNK_BYTES } from '../../schemas/workspace-api.ts';

export interface CaptureSettings {
  /** Bytes kept in all; head and tail get half each. */
  readonly keepBytes: number;
  /** Bytes that stand waiting for this long are handed on, however few. */
  readonly flushMs: number;
  /** Takes one chunk of at most 64 KiB; called in order. */
  readonly onChunk: (bytes: Uint8Array) => void;
}

export interface CaptureTotals {
  readonly bytes: number;
  readonly stored: number;
  readonly truncated: boolean;
  readonly storedDigest: ContentDigest;
  readonly fullDigest: ContentDigest;
  readonly chunks: number;
}

export interface Capture {
  write(bytes: Uint8Array): void;
  /** Hands on what is left, the tail last. Nothing may be written afterwards. */
  end(): CaptureTotals;
}

/** The very first bytes go out sooner: somebody is watching for a sign of life. */
const FIRST_FLUSH_MS = 10;
/** A command that dribbles for an hour would make a chunk for every flush; from here on they are flushed less often. */
const MANY_CHUNKS = 512;
const SLOW_FACTOR = 20;

export function createCapture({ keepBytes, flushMs, onChunk }: CaptureSettings): Capture {
  const headBytes = Math.floor(keepBytes / 2);
  const full = createStreamHasher();
  const kept = createStreamHasher();
  const tail = createRing(keepBytes - headBytes);
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let headLeft = headBytes;
  let bytes = 0;
  let stored = 0;
  let chunks = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pendingBytes === 0) return;
    const whole = Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    for (let at = 0; at < whole.length; at += MAX_CHUNK_BYTES) emit(whole.subarray(at, at + MAX_CHUNK_BYTES));
  }

  function emit(chunk: Uint8Array): void {
    kept.update(chunk);
    stored += chunk.length;
    chunks += 1;
    onChunk(chunk);
  }

  function takeHead(part: Uint8Array): void {
    pending.push(part);
    pendingBytes += part.length;
    headLeft -= part.length;
    if (pendingBytes >= MAX_CHUNK_BYTES || headLeft === 0) flush();
    else
      timer ??= setTimeout(
        flush,
        chunks === 0 ? FIRST_FLUSH_MS : chunks < MANY_CHUNKS ? flushMs : flushMs * SLOW_FACTOR,
      );
  }

  return {
    write(part) {
      full.update(part);
      bytes += part.length;
      const head = part.subarray(0, headLeft);
      // Copied: the stream's own buffer may be used again, and a small part would keep a large one alive.
      if (head.length > 0) takeHead(Uint8Array.from(head));
      if (head.length < part.length) tail.push(part.subarray(head.length));
    },
    end() {
      pending.push(...tail.read());
      pendingBytes += tail.length();
      flush();
      return {
        bytes,
        stored,
        truncated: stored < bytes,
        storedDigest: kept.digest(),
        fullDigest: full.digest(),
        chunks,
      };
    },
  };
}

interface Ring {
  push(bytes: Uint8Array): void;
  length(): number;
  /** In order, oldest first. */
  read(): readonly Uint8Array[];
}

/** The last `capacity` bytes of what was pushed. The memory is taken when the first byte comes, not before. */
function createRing(capacity: number): Ring {
  let buffer: Uint8Array | null = null;
  let next = 0;
  let total = 0;
  return {
    push(bytes) {
      buffer ??= new Uint8Array(capacity);
      total += bytes.length;
      const last = bytes.subarray(Math.max(0, bytes.length - capacity));
      const first = last.subarray(0, capacity - next);
      buffer.set(first, next);
      buffer.set(last.subarray(first.length), 0);
      next = (next + last.length) % capacity;
    },
    length: () => Math.min(total, capacity),
    read() {
      if (buffer === null) return [];
      return total <= capacity ? [buffer.subarray(0, total)] : [buffer.subarray(next), buffer.subarray(0, next)];
    },
  };
}
