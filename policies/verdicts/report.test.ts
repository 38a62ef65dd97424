import { describe, expect, test } from 'vitest';
import { REPORT_LIMITS } from '../../schemas/verification/report.ts';
import { readReviewText } from './report.ts';

const review = (block: unknown) =>
  new TextEncoder().encode(`It was looked at.\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\`\n`);
const rejecting = (more: object) =>
  review({ verdict: 'REJECTED', verdict_token: 'RETRY_FORJA', failure_class: 'unbounded', ...more });

const FINDING = {
  ...{ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' },
  location: { path: 'src/a.js', from_line: 3, to_line: 4 },
  failure_scenario: 'It grows past its bound.',
  required_fix: 'Keep it below.',
};
const DISPOSITION = {
  finding: `f-${'a'.repeat(32)}`,
  disposition: 'resolved',
  evidence: ['diff'],
  reason: 'bound_kept',
};

const reasonOf = (bytes: Uint8Array) => {
  const { reading, report } = readReviewText(bytes);
  // What cannot be read reports nothing, rather than half of it.
  if (reading.verdict === 'UNPARSEABLE') expect(report).toEqual({ findings: [], dispositions: [] });
  return reading.verdict === 'UNPARSEABLE' ? reading.reason : reading.verdict;
};

describe('a report', () => {
  test('is empty in a review of prose and a verdict, and whatever else stands in the block is nobody’s', () => {
    expect(readReviewText(review({ verdict: 'APPROVED', note: 'fine' }))).toEqual({
      reading: { verdict: 'APPROVED' },
      report: { findings: [], dispositions: [] },
    });
  });

  test('stands beside the verdict of the block that decides, and of no other', () => {
    const { reading, report } = readReviewText(rejecting({ findings: [FINDING], dispositions: [DISPOSITION] }));
    expect(reading).toEqual({ verdict: 'REJECTED', token: 'RETRY_FORJA', failureClass: 'unbounded' });
    expect(report).toEqual({ findings: [FINDING], dispositions: [DISPOSITION] });
    const two = Buffer.concat([rejecting({ findings: [FINDING] }), review({ verdict: 'APPROVED' })]);
    expect(readReviewText(two)).toMatchObject({ reading: { verdict: 'APPROVED' }, report: { findings: [] } });
  });

  test('[inv-02] an approval that names what blocks is none', () => {
    expect(reasonOf(review({ verdict: 'APPROVED', findings: [FINDING] }))).toBe('approved_with_blocker');
    const advice = { ...FINDING, standing: 'advisory' };
    expect(reasonOf(review({ verdict: 'APPROVED', findings: [advice] }))).toBe('APPROVED');
  });
});

describe('[inv-19] [inv-05] a report is refused as a whole that', () => {
  const finding = (change: object) => ({ findings: [{ ...FINDING, ...change }] });
  const disposition = (change: object) => ({ dispositions: [{ ...DISPOSITION, ...change }] });
  test.each([
    ['gives a finding an id', finding({ finding_id: `f-${'b'.repeat(32)}` })],
    ['gives it a digest', finding({ digest: `sha256:${'b'.repeat(64)}` })],
    ['cites another subject', finding({ subject_digest: `sha256:${'b'.repeat(64)}` })],
    ['says who computed what it gets', finding({ standing: 'decisive' })],
    ['names a type of its own', finding({ type: 'vibes' })],
    ['leaves the failure out', finding({ failure_scenario: '' })],
    ['writes a book', finding({ failure_scenario: 'x'.repeat(REPORT_LIMITS.text + 1) })],
    ['acts on the terminal', finding({ failure_scenario: '\u001b[2Jfine' })],
    ['turns the text round', finding({ required_fix: 'a\u202eb' })],
    ['cites a path outside', finding({ location: { path: '../etc/passwd', from_line: 1, to_line: 1 } })],
    ['cites an absolute path', finding({ location: { path: '/etc/passwd', from_line: 1, to_line: 1 } })],
    ['cites a path of two lines', finding({ location: { path: 'a\nb', from_line: 1, to_line: 1 } })],
    ['cites lines that end before they begin', finding({ location: { path: 'a', from_line: 2, to_line: 1 } })],
    ['cites line 0', finding({ location: { path: 'a', from_line: 0, to_line: 1 } })],
    ['calls on a security requirement for anything', finding({ security_requirement: true })],
    ['is more than a report holds', { findings: Array.from({ length: REPORT_LIMITS.findings + 1 }, () => FINDING) }],
    ['is no list', { findings: FINDING }],
    ['withdraws a finding without evidence', disposition({ evidence: [] })],
    ['withdraws one without saying what with', disposition({ evidence: undefined })],
    ['says in its own words why', disposition({ reason: 'Because I say so' })],
    ['says for us that it was not addressed', disposition({ disposition: 'not_addressed' })],
    ['names the version that superseded it', disposition({ superseded_by: 'v2' })],
    [
      'says two things of one finding',
      { dispositions: [DISPOSITION, { ...DISPOSITION, disposition: 'still_present' }] },
    ],
  ])('%s', (_, more) => {
    expect(reasonOf(rejecting(more))).toBe('report_malformed');
  });

  test('holds ten thousand findings: it is past the block before anything of it is read', () => {
    const started = performance.now();
    const many = Array.from({ length: 10_000 }, () => ({}));
    expect(['block_too_large', 'message_too_large']).toContain(reasonOf(rejecting({ findings: many })));
    expect(reasonOf(rejecting({ findings: [{ ...FINDING, failure_scenario: 'x'.repeat(1024 * 1024) }] }))).toBe(
      'message_too_large',
    );
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test('says why in plain ASCII that quotes nothing', () => {
    const { reading } = readReviewText(rejecting(finding({ ['\u001b[31m'.repeat(40)]: 1 })));
    expect(reading).toMatchObject({ reason: 'report_malformed' });
    if (reading.verdict !== 'UNPARSEABLE') throw new Error('it was read');
    expect(reading.detail).toMatch(/^[ -~]{1,399}$/);
    expect(reading.detail).not.toContain('[31m');
  });
});
