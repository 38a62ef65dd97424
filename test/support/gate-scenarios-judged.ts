/** Cases 2 to 5: what was judged and is not good, or contradicts itself. */
import { findingDigest } from '../../schemas/gate/finding.ts';
import type { GatePolicy } from '../../schemas/gate/policy.ts';
import { Maker, ref, shippedPolicy, worldOf } from './gate-fixtures.ts';
import { scenario, type Scenario } from './gate-scenario.ts';

/** A blocker that an earlier subject of the same ticket came back with. */
const earlier = new Maker(worldOf('segment', { subject: { stateRevision: 11 } })).finding({
  findingId: 'finding-early',
});
const withPrior = { subject: { priorBlockers: [{ findingId: earlier.findingId, digest: findingDigest(earlier) }] } };

const segment = shippedPolicy('segment');
const securityTests: Partial<GatePolicy> = {
  requiredChecks: segment.requiredChecks.map((rule) => ({ ...rule, class: 'security' as const })),
};

export const JUDGED_SCENARIOS: readonly Scenario[] = [
  scenario(
    [
      'rework-check-failed',
      'segment',
      'rework',
      ['check_failed', 'criterion_missing', 'criterion_missing', 'verifier_missing'],
    ],
    'The tests fail, so no verifier was called. What is missing is recorded too, but the failure decides: rework, not blocked.',
    (make) => [make.check('tests', 'failed')],
  ),
  scenario(
    ['rework-model-says-pass', 'segment', 'rework', ['check_failed', 'check_and_verifier_disagree']],
    'The tests fail and the reviewer passes everything. A deterministic failure dominates any opinion.',
    (make) => [make.check('tests', 'failed'), make.run('reviewer')],
  ),
  scenario(
    ['rework-twenty-reruns', 'segment', 'rework', ['check_failed', 'check_and_verifier_disagree', 'check_unstable']],
    'One failure, then twenty green runs of the same check on the same head. They do not clear it.',
    (make) => [
      make.check('tests', 'failed'),
      ...Array.from({ length: 20 }, () => make.check('tests')),
      make.run('reviewer'),
    ],
  ),
  scenario(
    ['rework-security-check-failed', 'segment', 'rework', ['security_check_failed', 'check_and_verifier_disagree']],
    'A check that the policy calls a security check fails: case 3, with a mapping of its own.',
    (make) => [make.check('tests', 'failed'), make.run('reviewer')],
    { policy: securityTests },
  ),
  scenario(
    ['rework-security-finding', 'segment', 'rework', ['security_finding_open']],
    'A security finding on a changed line blocks, whatever the rows say.',
    (make) => [...make.clean(), make.finding({ findingId: 'finding-sec', type: 'security' })],
  ),
  scenario(
    [
      'rework-security-verifier',
      'segment',
      'rework',
      ['security_verifier_failed', 'criterion_contradicted', 'criterion_failed'],
    ],
    'At high risk a security verifier is required. It fails what the reviewer passed: all of it is recorded, case 3 decides.',
    (make) => [...make.clean(), make.run('security', { 'login-works': 'failed' })],
    { subject: { risk: { class: 'high', securityRequirementRevision: 1 } } },
  ),
  scenario(
    ['human-required-verifiers-disagree', 'segment', 'human_required', ['criterion_contradicted', 'criterion_failed']],
    'Two reviewers, one criterion, two answers. No voting and no newest-wins: a person looks.',
    (make) => [...make.clean(), make.run('reviewer', { 'login-works': 'failed' })],
  ),
  scenario(
    [
      'human-required-disposition-contradicted',
      'segment',
      'human_required',
      ['disposition_contradicted', 'prior_blocker_open'],
    ],
    'One run calls the earlier blocker resolved, another says it is still there.',
    (make) => {
      const runs = [make.run('reviewer'), make.run('reviewer')];
      const [first, second] = runs.map((run) => run.runId);
      return [
        make.check('tests'),
        ...runs,
        make.disposition(earlier, 'resolved', { runId: first ?? '' }),
        make.disposition(earlier, 'still_present', { runId: second ?? '' }),
      ];
    },
    withPrior,
  ),
  scenario(
    ['human-required-people-disagree', 'merge', 'human_required', ['humans_disagree', 'human_rejected']],
    'One operator approves and another rejects.',
    (make) => [...make.clean(), make.human(), make.human({ decision: 'reject' })],
  ),
  scenario(
    ['rework-criterion-failed', 'segment', 'rework', ['criterion_failed']],
    'The reviewer judged one criterion and it does not hold.',
    (make) => [make.check('tests'), make.run('reviewer', { 'login-works': 'failed' })],
  ),
  scenario(
    ['rework-blocker-open', 'segment', 'rework', ['blocker_open']],
    'A blocking finding on a changed line.',
    (make) => [...make.clean(), make.finding({ findingId: 'finding-new' })],
  ),
  scenario(
    ['pass-adjacent-findings', 'segment', 'pass', []],
    'Thirty findings about code that was there before: kept for triage as adjacent, the gate is unaffected.',
    (make) => [
      ...make.clean(),
      ...Array.from({ length: 30 }, () => make.finding({ standing: 'adjacent', causality: 'pre_existing' })),
    ],
  ),
  scenario(
    ['rework-prior-blocker-still-present', 'segment', 'rework', ['prior_blocker_open']],
    'The blocker that this ticket came back with is still there.',
    (make) => {
      const run = make.run('reviewer');
      return [make.check('tests'), run, make.disposition(earlier, 'still_present', { runId: run.runId })];
    },
    withPrior,
  ),
  scenario(
    ['rework-prior-blocker-not-mentioned', 'segment', 'rework', ['prior_blocker_not_addressed']],
    'The reviewer passes everything and does not mention the earlier blocker. Silence is no resolution.',
    (make) => make.clean(),
    withPrior,
  ),
  scenario(
    ['rework-resolution-unsupported', 'segment', 'rework', ['resolution_unsupported']],
    'The earlier blocker is called resolved on evidence of the old subject.',
    (make) => {
      const run = make.run('reviewer');
      const evidenceRefs = [ref('the-old-report')];
      return [make.check('tests'), run, make.disposition(earlier, 'resolved', { runId: run.runId, evidenceRefs })];
    },
    withPrior,
  ),
  scenario(
    ['pass-prior-blocker-resolved', 'segment', 'pass', []],
    'The earlier blocker is resolved, shown by evidence of this subject, in a run that finished.',
    (make) => {
      const run = make.run('reviewer');
      return [make.check('tests'), run, make.disposition(earlier, 'resolved', { runId: run.runId })];
    },
    withPrior,
  ),
  scenario(
    ['rework-human-rejected', 'merge', 'rework', ['human_rejected']],
    'A person rejected it. Nobody else has to say anything.',
    (make) => [...make.clean(), make.human({ decision: 'reject' })],
  ),
  scenario(
    ['human-required-blocker-left-to-a-person', 'segment', 'human_required', ['blocker_needs_human']],
    'The verifier cannot say whether the earlier blocker is gone and leaves it to a person.',
    (make) => {
      const run = make.run('reviewer');
      return [make.check('tests'), run, make.disposition(earlier, 'human_required', { runId: run.runId })];
    },
    withPrior,
  ),
];
