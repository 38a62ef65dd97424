/**
 * Reads a whole review: the verdict of its deciding block, and the report beside it. One block says both, so what routes and what
 * is recorded cannot be taken from two places.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import { reviewReportSchema } from '../../schemas/verification/report.schema.ts';
import { EMPTY_REPORT, type ReviewReport } from '../../schemas/verification/report.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { UnparseableReading, VerdictReading } from '../../schemas/verdict.ts';
import { BLOCK_LIMITS } from './block.ts';
import { decidingBlockOf } from './parse.ts';

export interface ReviewedText {
  readonly reading: VerdictReading;
  /** Empty where the verdict cannot be read, and where the reviewer reported nothing. */
  readonly report: ReviewReport;
}

/**
 * Never throws. A report that cannot be read makes the whole review `UNPARSEABLE`: a finding that is silently dropped would be
 * bad news unheard. A block without `findings` and `dispositions` reports nothing, which is fine.
 */
export function readReviewText(bytes: Uint8Array): ReviewedText {
  const { reading, block } = decidingBlockOf(bytes);
  if (reading.verdict === 'UNPARSEABLE' || block === null) return { reading, report: EMPTY_REPORT };
  const report = reviewReportSchema.safeParse(jsonOf(block));
  if (!report.success) {
    const [issue] = report.error.issues;
    const where = (issue?.path ?? []).map(String).join('.').slice(0, 80);
    // Keys that nobody knows are not quoted: they can be as long as the block.
    const what =
      issue?.code === 'unrecognized_keys'
        ? 'has a key of no report'
        : plain((issue?.message ?? 'is unread').slice(0, 200));
    return unread('report_malformed', `The field ${plain(where)} of the block: ${what}.`);
  }
  if (reading.verdict === 'APPROVED' && report.data.findings.some(({ standing }) => standing === 'blocking')) {
    return unread('approved_with_blocker', 'The block says APPROVED and has a finding whose standing is blocking.');
  }
  return { reading, report: report.data };
}

/** It was read before, so it is JSON within bounds. */
function jsonOf(block: string): JsonValue {
  return readStrictJson(new TextEncoder().encode(block), BLOCK_LIMITS);
}

function unread(reason: UnparseableReading['reason'], detail: string): ReviewedText {
  return { reading: { verdict: 'UNPARSEABLE', reason, detail }, report: EMPTY_REPORT };
}

/** Plain ASCII: it ends up on terminals and in a prompt. */
function plain(text: string): string {
  return text.replace(/[^ -~]/g, '?');
}
