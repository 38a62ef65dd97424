/** What a reviewing agent is told. The facts it works from are its assignment and its checkout; this says where they are. */
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';

export function reviewPrompt(parameters: SubjectParameters, reviewName: string): string {
  const { ticket, gate, change, plan, segment } = parameters;
  const what = segment === null ? gate : `segment ${segment.n} of ${segment.of}`;
  return [
    `You are SENTINEL of ticket ${ticket}. Review the ${what}: the change from ${change.base} to ${change.head}.`,
    `PLAN.md is the file of that name at ${plan.commit}. \`portcullis context\` prints what you are asked; your checkout is at the commit that is judged and you cannot push.`,
    'Judge only what the ticket asks for and what the change causes. If the plan is missing, the checkout is empty or the diff cannot be read, do not approve: reject with BLOCKED_UPSTREAM and say what is missing.',
    `Write your review to ${reviewName} outside the checkout, append it with \`portcullis append ${reviewName}\`, then use your approval once: \`portcullis approve\` or \`portcullis reject\`.`,
    'End the review with exactly one fenced json block, the verdict:',
    '```json\n{"verdict":"APPROVED"}\n```',
    'or, with one of RETRY_FORJA, NEEDS_HUMAN, BLOCKED_UPSTREAM:',
    '```json\n{"verdict":"REJECTED","verdict_token":"RETRY_FORJA","failure_class":"logic-error"}\n```',
  ].join('\n\n');
}
