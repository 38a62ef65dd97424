/**
 * The bounds within which a message is parsed as Markdown at all.
 *
 * CommonMark parsers take quadratic time on deep or repeated containers and on runs of headings (at 64 KiB, minutes). Each
 * bound here is far above what a reviewer writes and was set by measuring the worst inputs known within it: see
 * docs/concepts/verdicts.md for the numbers and `bench/verdict.ts` for the inputs.
 */
import type { UnparseableReading } from '../../schemas/verdict.ts';

export const MESSAGE_BOUNDS = {
  /** UTF-8 bytes of the whole message. */
  bytes: 64 * 1024,
  lines: 4096,
  /** The furthest column (from 0, a tab counts 4) at which a quote or list marker may stand in a line's prefix. */
  markerColumn: 80,
  /** Quote and list markers in all prefixes together. */
  markers: 8192,
} as const;

/** What is wrong with the message's size or shape; `null` when it may be parsed. Linear in its length. */
export function breachOfBounds(message: string): UnparseableReading | null {
  // A UTF-16 unit is at least one byte of UTF-8: the first test spares encoding something huge.
  const { bytes } = MESSAGE_BOUNDS;
  if (message.length > bytes || new TextEncoder().encode(message).length > bytes) return MESSAGE_TOO_LARGE;
  const lines = message.split(/\r\n|\n|\r/);
  if (lines.length > MESSAGE_BOUNDS.lines) return tooLarge(`The message has more than ${MESSAGE_BOUNDS.lines} lines.`);
  let markers = 0;
  for (const [index, line] of lines.entries()) {
    const prefix = prefixOf(line);
    markers += prefix.markers;
    if (prefix.column > MESSAGE_BOUNDS.markerColumn) {
      return tooNested(`Line ${index + 1} nests quotes or lists past column ${MESSAGE_BOUNDS.markerColumn}.`);
    }
  }
  if (markers <= MESSAGE_BOUNDS.markers) return null;
  return tooNested(`The message has more than ${MESSAGE_BOUNDS.markers} quote and list markers.`);
}

export const MESSAGE_TOO_LARGE = tooLarge(`The message is larger than ${MESSAGE_BOUNDS.bytes} bytes.`);

function tooLarge(detail: string): UnparseableReading {
  return { verdict: 'UNPARSEABLE', reason: 'message_too_large', detail };
}

function tooNested(detail: string): UnparseableReading {
  return { verdict: 'UNPARSEABLE', reason: 'message_too_nested', detail };
}

/** A rule such as `- - - -`: it looks like nested lists and opens none. */
const THEMATIC_BREAK = /^ {0,3}([-*])[ \t]*(?:\1[ \t]*){2,}$/;
/** One marker with the white space before it: `>`, or a list marker followed by white space or the end. */
const MARKER = /([ \t]*)(>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/y;

/** How many markers begin the line, and the column of the last. */
function prefixOf(line: string): { readonly markers: number; readonly column: number } {
  if (THEMATIC_BREAK.test(line)) return { markers: 0, column: 0 };
  let markers = 0;
  let column = 0;
  let next = 0;
  MARKER.lastIndex = 0;
  for (let match = MARKER.exec(line); match !== null; match = MARKER.exec(line)) {
    const [, space = '', marker = ''] = match;
    column = next + space.replaceAll('\t', '    ').length;
    next = column + marker.length;
    markers += 1;
  }
  return { markers, column };
}
