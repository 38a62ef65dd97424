/** Guards of reviews and of what they find. */
import type { Guard } from './list.ts';

const RECORDS = { project: 'system', test: 'test/gate/review.test.ts' } as const;
const WORKFLOW = { project: 'system', test: 'test/workflows/verification-reviews.test.ts' } as const;
const FINDINGS = { project: 'unit', test: 'policies/verification/findings.test.ts' } as const;

export const REVIEW_GUARDS: readonly Guard[] = [
  {
    name: 'a reviewer that rejects after another approved is heard',
    file: 'workflows/verification/review.ts',
    text: "    if (last.outcome !== 'reviewed' || last.route !== 'proceed') break;\n",
    without: '    break;\n',
    ...WORKFLOW,
    named: 'hears the second that rejects',
  },
  {
    name: 'a contract rests on a review that is concluded and counts',
    file: 'workflows/verification/review.ts',
    text: "    if (!stale && ending.state === 'answered'",
    without: "    if (ending.state === 'answered'",
    ...WORKFLOW,
    named: 'of a review that is history is none',
  },
  {
    name: 'a run that is history finds nothing',
    file: 'activities/verification/review.ts',
    text: "  if (recorded.kind === 'stale') return { refs, blocking: [], stale: true };\n",
    without: '',
    ...RECORDS,
    named: 'found nothing that counts when its run is history',
  },
  {
    name: 'an answer is of the file that the approval is for',
    file: 'gateway/harness/approvals.ts',
    text: 'name === review && digest === reviewDigest',
    without: "name !== '' && digest === reviewDigest",
    project: 'system',
    test: 'test/harness/harness.test.ts',
    named: 'a review that was appended under another name answers for none',
  },
  {
    name: 'an approval names nothing that blocks',
    file: 'policies/verdicts/report.ts',
    text: "if (reading.verdict === 'APPROVED' && report.data.findings.some(",
    without:
      "if (reading.verdict === 'REJECTED' && report.data.findings.every(() => false) && report.data.findings.some(",
    project: 'unit',
    test: 'policies/verdicts/report.test.ts',
    named: 'an approval that names what blocks is none',
  },
  {
    name: 'a cited range is of the change',
    file: 'policies/verification/findings.ts',
    text: 'cause !== null && isChanged(cause, facts) ? cause : null',
    without: 'cause !== null && facts.changedLines.length > 0 ? cause : null',
    ...FINDINGS,
    named: 'that cites lines which are not there',
  },
  {
    name: 'a disposition is of a prior blocker of the subject',
    file: 'policies/verification/findings.ts',
    text: 'priorBlockers.some(({ findingId }) => findingId === said.finding)',
    without: 'priorBlockers.length > 0',
    ...FINDINGS,
    named: 'of a finding that is no prior blocker of this subject is dropped',
  },
  {
    name: 'only findings are prior blockers',
    file: 'policies/gates/open-findings.ts',
    text: 'OF_FINDINGS.has(code) && !overridden',
    without: '!overridden',
    project: 'unit',
    test: 'policies/gates/open-findings.test.ts',
    named: 'a criterion, a check or a person is no finding',
  },
];
