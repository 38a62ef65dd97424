/**
 * Reads the verdict of a reviewer's final message: the last fenced `json` block that speaks of a verdict decides, and
 * prose is never weighed against it (spec/verdicts.md).
 *
 * Belongs in an activity, not in a workflow: the Markdown parser is no part of the workflow bundle.
 *
 * @example parseVerdict('Fine.\n\n```json\n{"verdict":"APPROVED"}\n```\n') // { verdict: 'APPROVED' }
 */
import type { UnparseableReading, VerdictReading } from '../../schemas/verdict.ts';
import { readBlock } from './block.ts';
import { MESSAGE_TOO_LARGE, MESSAGE_BOUNDS, breachOfBounds } from './bounds.ts';
import { jsonFences } from './fences.ts';

/** Never throws, whatever the message; `UNPARSEABLE` says why. Pass the final message only, not the conversation. */
export function parseVerdict(message: string): VerdictReading {
  const breach = breachOfBounds(message);
  if (breach !== null) return breach;
  for (const fence of jsonFences(message).toReversed()) {
    const reading = readBlock(fence);
    if (reading !== null) return reading;
  }
  return NO_BLOCK;
}

/** The same for bytes as they came, which need not be UTF-8. A byte order mark is passed over. */
export function parseVerdictBytes(bytes: Uint8Array): VerdictReading {
  if (bytes.length > MESSAGE_BOUNDS.bytes) return MESSAGE_TOO_LARGE;
  let message: string;
  try {
    message = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { verdict: 'UNPARSEABLE', reason: 'message_not_utf8', detail: 'The message is not UTF-8.' };
  }
  return parseVerdict(message);
}

const NO_BLOCK: UnparseableReading = {
  verdict: 'UNPARSEABLE',
  reason: 'no_block',
  detail: 'The message has no fenced json block with a verdict.',
};
