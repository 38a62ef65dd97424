/** Guards of the audit chain. */
import type { Guard } from './list.ts';

const CHAIN = { project: 'system', test: 'test/store/authority.test.ts' } as const;
const REVIEWS = { project: 'system', test: 'test/gate/review.test.ts' } as const;
const LANDING = { project: 'unit', test: 'activities/git/land-audit.test.ts' } as const;

export const AUDIT_GUARDS: readonly Guard[] = [
  {
    name: 'what happens once is entered once',
    file: 'activities/store/scripts/audit.ts',
    text: "if there then return {'same', there} end\n",
    without: '',
    ...CHAIN,
    named: 'what happens once is entered once',
  },
  {
    name: 'a mark alone keeps nothing out of the chain',
    file: 'activities/store/audit-chain.ts',
    text: 'if (there !== null && saidBy(there) === mine) return;',
    without: 'if (mine !== marked) return;',
    ...CHAIN,
    named: 'that was put there beforehand keeps nothing out unseen',
  },
  {
    name: 'an approval is minted with its entry',
    file: 'activities/store/scripts/approval.ts',
    text: '  chain()\n',
    without: '',
    ...REVIEWS,
    named: 'has its approval, its start and, once it was used up',
  },
  {
    name: 'the use of an approval that nobody concluded is entered before the next',
    file: 'activities/verification/review.ts',
    text: '  await endEarlier(needs, terms);\n',
    without: '',
    ...REVIEWS,
    named: 'has the use of an approval whose review nobody concluded',
  },
  {
    name: 'a review that is cut short leaves no approval behind',
    file: 'workflows/verification/review.ts',
    text: 'CancellationScope.nonCancellable(() => abandonReview({ tenant, ticket, approvalId }))',
    without: 'Promise.resolve()',
    project: 'system',
    test: 'test/workflows/verification-reviews.test.ts',
    named: 'leaves no approval behind',
  },
  {
    name: 'a landing is entered before the branch moves',
    file: 'activities/git/land-audit.ts',
    text: "  await enter(needs, request, 'merge_intent');\n",
    without: '',
    ...LANDING,
    named: 'is in the chain before the branch moves',
  },
  {
    name: 'what was read back is entered as merged',
    file: 'activities/git/land-audit.ts',
    text: "  if (answer.outcome === 'landed') await enter(needs, request, 'merged');\n",
    without: '',
    ...LANDING,
    named: 'is in the chain before the branch moves',
  },
];
