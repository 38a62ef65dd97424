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
  return decidingBlock(message).reading;
}

/** A reading, and the text of the block that it was read from; `null` when there is none. */
export interface DecidingBlock {
  readonly reading: VerdictReading;
  readonly block: string | null;
}

/** The same with the block that decided, for whoever reads more of it than the verdict. */
export function decidingBlock(message: string): DecidingBlock {
  const breach = breachOfBounds(message);
  if (breach !== null) return { reading: breach, block: null };
  for (const block of jsonFences(message).toReversed()) {
    const reading = readBlock(block);
    if (reading !== null) return { reading, block };
  }
  return { reading: NO_BLOCK, block: null };
}

/** The same for bytes as they came, which need not be UTF-8. A byte order mark is passed over. */
export function decidingBlockOf(bytes: Uint8Array): DecidingBlock {
  if (bytes.length > MESSAGE_BOUNDS.bytes) return { reading: MESSAGE_TOO_LARGE, block: null };
  let message: string;
  try {
    message = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const detail = 'The message is not UTF-8.';
    return { reading: { verdict: 'UNPARSEABLE', reason: 'message_not_utf8', detail }, block: null };
  }
  return decidingBlock(message);
}

export function parseVerdictBytes(bytes: Uint8Array): VerdictReading {
  return decidingBlockOf(bytes).reading;
}

const NO_BLOCK: UnparseableReading = {
  verdict: 'UNPARSEABLE',
  reason: 'no_block',
  detail: 'The message has no fenced json block with a verdict.',
};
