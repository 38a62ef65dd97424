/** What passes, and what passes only because people said so. */
import { AS_OF, MINUTE, principal, worldOf } from './gate-fixtures.ts';
import { scenario, type Scenario } from './gate-scenario.ts';

const hourly = worldOf('segment').subject.requiredChecks.map((check) => ({
  ...check,
  timeSensitive: true,
  horizonSeconds: 3600,
}));

export const PASS_SCENARIOS: readonly Scenario[] = [
  scenario(
    ['pass-repository-change', 'merge', 'pass', []],
    'A change of a repository: its tests passed in a fresh workspace, the candidate is bound to what was judged, and an independent reviewer passed every criterion on evidence of this subject.',
    (make) => make.clean(),
  ),
  scenario(
    ['pass-operation', 'operation', 'pass', []],
    'No repository at all: the result of a deterministic operation, judged row by row by a verifier that calls no model.',
    (make) => make.clean(),
  ),
  scenario(
    ['pass-time-limited', 'segment', 'pass', []],
    'The check is time-sensitive with a horizon of an hour and was observed half an hour ago: it passes, and validUntil says until when.',
    (make) => make.clean(),
    { subject: { requiredChecks: hourly } },
  ),
  scenario(
    ['pass-high-risk-with-person', 'merge', 'pass', []],
    'High risk: a security verifier and a person are required on top, and all three are different principals.',
    (make) => [...make.clean(), make.run('security'), make.human()],
    { subject: { risk: { class: 'high', securityRequirementRevision: 1 } } },
  ),
  scenario(
    ['pass-retry-after-lost-attempt', 'segment', 'pass', []],
    'Two attempts of the check were lost (one never closed, one executor gone) and a third passed: the policy lets a completed attempt outweigh two that have no answer. A failed one would not be outweighed.',
    (make) => [
      make.attempt('tests'),
      make.check('tests', 'inconclusive', { unavailable: 'executor_unavailable', counts: null }),
      ...make.clean(),
    ],
  ),
  scenario(
    ['pass-overridden-definition-change', 'merge', 'pass', ['definition_changed']],
    'The change edits package.json, which chooses what the tests run. An operator looked and overrode that case; the hit stays on record.',
    (make) => [
      make.check('tests', 'passed', {
        definitions: [{ path: 'package.json', baseDigest: null, headDigest: make.world.subject.objective.digest }],
      }),
      make.check('candidate-bound'),
      make.run('reviewer'),
      make.human({ decision: 'override', case: 'definition_changed' }),
    ],
  ),
  scenario(
    ['human-required-override-came-too-early', 'segment', 'human_required', ['criterion_inconclusive']],
    'An operator overrode case 7, and twenty minutes later a verifier could not tell: the override covers only what was there when the person decided.',
    (make) => [
      ...make.clean(),
      make.human({ decision: 'override', case: 'inconclusive', observedAt: AS_OF - 40 * MINUTE }),
      make.run('reviewer', { 'login-works': 'inconclusive' }),
    ],
  ),
  scenario(
    ['human-required-self-review', 'merge', 'human_required', ['human_missing']],
    'High risk, and the person who approved is the one the producer works for: one hand counts once, and not as its own reviewer.',
    (make) => [
      ...make.clean(),
      make.run('security'),
      make.human({ principal: principal('bob', 'forge'), selfReview: true }),
    ],
    { subject: { risk: { class: 'high', securityRequirementRevision: 1 } } },
  ),
];
