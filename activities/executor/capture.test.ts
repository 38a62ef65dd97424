import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_CHUNK_BYTES } from '../../schemas/workspace-api.ts';
import { createCapture } from './capture.ts';
import { createLineReader } from './lines.ts';

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

function capturing(keepBytes: number) {
  const chunks: Uint8Array[] = [];
  const capture = createCapture({ keepBytes, flushMs: 100, onChunk: (bytes) => chunks.push(bytes) });
  return { capture, chunks, stored: () => Buffer.concat(chunks) };
}

describe('what is kept of a stream', () => {
  it('is the head and the tail, with everything counted and hashed', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), (parts) => {
        const { capture, stored } = capturing(50);
        for (const part of parts) capture.write(part);
        const totals = capture.end();
        const whole = Buffer.concat(parts);
        const kept = whole.length <= 50 ? whole : Buffer.concat([whole.subarray(0, 25), whole.subarray(-25)]);
        expect(stored()).toEqual(kept);
        expect(totals).toMatchObject({
          bytes: whole.length,
          stored: kept.length,
          truncated: whole.length > 50,
          storedDigest: sha256(kept),
          fullDigest: sha256(whole),
        });
      }),
    );
  });

  it('comes in chunks that a call can carry', () => {
    const { capture, chunks } = capturing(1024 * 1024);
    capture.write(new Uint8Array(10 * 1024 * 1024).fill(65));
    const { chunks: said } = capture.end();
    expect(chunks.length).toBe(said);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
  });

  it('does not change when the buffer it came in is used again', () => {
    const { capture, stored } = capturing(100);
    const buffer = Uint8Array.from([1, 2, 3]);
    capture.write(buffer);
    buffer.fill(9);
    capture.end();
    expect([...stored()]).toEqual([1, 2, 3]);
  });

  describe('while it runs', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('goes out at once for the first bytes, then within the flush time', () => {
      const { capture, chunks } = capturing(1024);
      capture.write(Uint8Array.of(1));
      vi.advanceTimersByTime(10);
      expect(chunks.length).toBe(1);
      capture.write(Uint8Array.of(2));
      vi.advanceTimersByTime(99);
      expect(chunks.length).toBe(1);
      vi.advanceTimersByTime(1);
      expect(chunks.length).toBe(2);
      capture.end();
    });

    it('[inv-19] stays under the number of chunks that are taken, though a command dribbles for an hour', () => {
      const { capture, chunks } = capturing(1024 * 1024);
      for (let step = 0; step < 72_000; step += 1) {
        capture.write(Uint8Array.of(46));
        vi.advanceTimersByTime(50);
      }
      capture.end();
      expect(chunks.length).toBeLessThan(4096);
    });
  });
});

describe('lines of a stream', () => {
  it('are the same however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 20 })),
        fc.integer({ min: 1, max: 7 }),
        (parts, step) => {
          const texts = parts.map((part) => part.replace(/[\r\n]/g, ''));
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
          const lines: string[] = [];
          const reader = createLineReader(
            (line) => lines.push(line),
            () => {},
          );
          for (let at = 0; at < bytes.length; at += step) reader.write(bytes.subarray(at, at + step));
          reader.end();
          expect(lines).toEqual(bytes.toString().split('\n').slice(0, -1));
        },
      ),
    );
  });

  it('[inv-19] are dropped, and it is said, when one is longer than a mebibyte', () => {
    const lines: string[] = [];
    let lost = 0;
    const reader = createLineReader(
      (line) => lines.push(line),
      () => {
        lost += 1;
      },
    );
    for (let part = 0; part < 30; part += 1) reader.write(Buffer.alloc(100_000, 'x'));
    reader.write(Buffer.from('\nshort\n'));
    reader.end();
    expect([lost > 0, lines]).toEqual([true, ['short']]);
  });
});
