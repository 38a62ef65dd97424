/** What the scripted SENTINEL came to, and the text of its review. */
import type { ReportedDisposition, ReportedFinding } from '../../../../schemas/verification/report.ts';
import type { VerdictToken } from '../../../../schemas/verdict.ts';

export interface Judgement {
  readonly verdict: 'APPROVED' | 'REJECTED';
  readonly token: VerdictToken | null;
  readonly failureClass: string | null;
  /** What was looked at, and what was found: lines of the review. */
  readonly seen: readonly string[];
  readonly found: readonly string[];
  /** Of what was found, that which has a place in the change. */
  readonly findings: readonly ReportedFinding[];
  /** What became of the findings that stopped an earlier round. */
  readonly dispositions: readonly ReportedDisposition[];
}

export function approved(seen: readonly string[]): Judgement {
  return { verdict: 'APPROVED', token: null, failureClass: null, seen, found: [], findings: [], dispositions: [] };
}

export function rejected(
  token: VerdictToken,
  failureClass: string,
  seen: readonly string[],
  found: readonly string[],
  findings: readonly ReportedFinding[] = [],
): Judgement {
  return { verdict: 'REJECTED', token, failureClass, seen, found, findings, dispositions: [] };
}

export function reviewText(title: string, judgement: Judgement): string {
  const { verdict, token, failureClass, seen, found, findings, dispositions } = judgement;
  const block = {
    verdict,
    ...(token === null ? {} : { verdict_token: token }),
    ...(failureClass === null ? {} : { failure_class: failureClass }),
    ...(findings.length === 0 ? {} : { findings }),
    ...(dispositions.length === 0 ? {} : { dispositions }),
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
    JSON.stringify(block, null, findings.length + dispositions.length === 0 ? undefined : 2),
    '```',
    '',
  ].join('\n');
}
