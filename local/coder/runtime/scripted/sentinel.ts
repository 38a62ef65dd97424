/** The scripted SENTINEL: reads, writes its review, appends it, and answers the approval with what the review says. */
import type { Assignment, HarnessContext } from '../../../../schemas/harness-api.ts';
import type { Desk } from './forge.ts';
import { judge, type Judgement } from './judge.ts';

/** The review, which is also its message. */
export async function workAsSentinel({ git, calls, say }: Desk, context: HarnessContext): Promise<string> {
  const { assignment, approval } = context;
  if (assignment === null || assignment.review === null) {
    return reviewText('Nothing', {
      verdict: 'REJECTED',
      token: 'BLOCKED_UPSTREAM',
      failureClass: 'nothing-asked',
      seen: [],
      found: ['Nothing is asked of this workspace, so there is nothing to judge.'],
    });
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

function titleOf({ phase, segment, title }: Assignment): string {
  if (phase === 'plan_review') return `The plan of "${title}"`;
  return segment === null || phase !== 'segment_review'
    ? `"${title}"`
    : `Segment ${segment.n} of ${segment.of} of "${title}"`;
}

function reviewText(title: string, { verdict, token, failureClass, seen, found }: Judgement): string {
  const block = {
    verdict,
    ...(token === null ? {} : { verdict_token: token }),
    ...(failureClass === null ? {} : { failure_class: failureClass }),
  };
  return [
    `# ${title}`,
    '',
    '## Looked at',
    '',
    ...(seen.length === 0 ? ['Nothing could be.'] : seen.map((line) => `- ${line}`)),
    '',
    '## Specific feedback',
    '',
    ...(found.length === 0 ? ['None.'] : found),
    '',
    '## Verdict',
    '',
    '```json',
    JSON.stringify(block),
    '```',
    '',
  ].join('\n');
}
