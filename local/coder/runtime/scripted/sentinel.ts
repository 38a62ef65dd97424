/** The scripted SENTINEL: reads, writes its review, appends it, and answers the approval with what the review says. */
import { SECURITY_CLASS } from '../../../../schemas/gate/vocabulary.ts';
import type { Assignment, HarnessContext } from '../../../../schemas/harness-api.ts';
import type { Desk } from './forge.ts';
import { judge } from './judge.ts';
import { rejected, reviewText } from './judgement.ts';

/** The review, which is also its message. */
export async function workAsSentinel({ git, calls, say }: Desk, context: HarnessContext): Promise<string> {
  const { assignment, approval } = context;
  if (assignment === null || assignment.review === null) {
    const found = ['Nothing is asked of this workspace, so there is nothing to judge.'];
    return reviewText('Nothing', rejected('BLOCKED_UPSTREAM', 'nothing-asked', [], found));
  }
  const judgement = await judge(git, assignment);
  say(`${assignment.review}: ${judgement.verdict}`);
  const text = reviewText(titleOf(assignment), judgement);
  const { digest } = await calls.appendReview(assignment.review, Buffer.from(text));
  if (approval === null) return text;
  const ask = { approvalId: approval.id, token: approval.token, reviewDigest: digest };
  await (judgement.verdict === 'APPROVED' ? calls.approve(ask) : calls.reject(ask));
  return text;
}

function titleOf({ phase, segment, title, verifierClass }: Assignment): string {
  const security = verifierClass === SECURITY_CLASS ? 'Security of ' : '';
  if (phase === 'plan_review') return `${security}The plan of "${title}"`;
  return segment === null || phase !== 'segment_review'
    ? `${security}"${title}"`
    : `${security}Segment ${segment.n} of ${segment.of} of "${title}"`;
}
