/** Cases 6 to 9: what is missing, what cannot be told, what the change itself edits, and who has not spoken. */
import { digestOf } from '../../schemas/digest.ts';
import { ref, worldOf } from './gate-fixtures.ts';
import { scenario, type Scenario } from './gate-scenario.ts';

const otherDefinition = worldOf('segment').subject.requiredChecks.map((check) => ({
  ...check,
  definitionDigest: digestOf('definition', 'true'),
}));

export const OPEN_SCENARIOS: readonly Scenario[] = [
  scenario(
    ['blocked-check-missing', 'segment', 'blocked', ['check_missing']],
    'The reviewer passes everything, and the tests were never run.',
    (make) => [make.run('reviewer')],
  ),
  scenario(
    ['blocked-check-not-in-subject', 'segment', 'blocked', ['check_not_in_subject']],
    'The subject leaves out a check that the policy requires.',
    (make) => [make.run('reviewer')],
    { subject: { requiredChecks: [] } },
  ),
  scenario(
    ['blocked-check-under-another-definition', 'segment', 'blocked', ['check_definition_not_accepted']],
    'The subject names the tests with a definition that the policy does not list: a check is pinned by what it runs, not by its name.',
    (make) => [make.check('tests'), make.run('reviewer')],
    { subject: { requiredChecks: otherDefinition } },
  ),
  scenario(
    ['blocked-producer-attested', 'segment', 'blocked', ['check_attestation']],
    'The tests passed in the producer’s own workspace. The agent shares that machine, so it can fail a check and never satisfy one.',
    (make) => [make.check('tests', 'passed', { attestation: 'producer' }), make.run('reviewer')],
  ),
  scenario(
    ['blocked-no-verifier', 'segment', 'blocked', ['criterion_missing', 'criterion_missing', 'verifier_missing']],
    'The tests pass and nobody independent looked.',
    (make) => [make.check('tests')],
  ),
  scenario(
    ['blocked-criterion-without-row', 'segment', 'blocked', ['criterion_missing']],
    'The run has a row for one criterion of two.',
    (make) => [
      make.check('tests'),
      make.run('reviewer', {}, { outcome: { state: 'finished', rows: [make.row('login-works', 'passed')] } }),
    ],
  ),
  scenario(
    ['blocked-criterion-unsupported', 'segment', 'blocked', ['criterion_unsupported']],
    'A row passes on evidence that is not of this subject.',
    (make) => [
      make.check('tests'),
      make.run(
        'reviewer',
        {},
        {
          outcome: {
            state: 'finished',
            rows: [
              make.row('login-works', 'passed'),
              { ...make.row('tests-cover-login', 'passed'), evidenceRefs: [ref('report-of-last-week')] },
            ],
          },
        },
      ),
    ],
  ),
  scenario(
    ['blocked-two-classes-one-verifier', 'segment', 'blocked', ['verifier_missing']],
    'High risk asks for a reviewer and a security verifier. One principal did both: it sits in one seat.',
    (make) => {
      const reviewer = make.run('reviewer');
      return [
        make.check('tests'),
        reviewer,
        make.run('security', {}, { verifier: { ...reviewer.verifier, class: 'security' } }),
      ];
    },
    { subject: { risk: { class: 'high', securityRequirementRevision: 1 } } },
  ),
  scenario(
    ['human-required-check-inconclusive', 'segment', 'human_required', ['check_inconclusive']],
    'The check ended without an answer, and nothing was unavailable: it simply could not tell.',
    (make) => [make.check('tests', 'inconclusive', { counts: null }), make.run('reviewer')],
  ),
  scenario(
    ['blocked-nothing-executed', 'segment', 'blocked', ['check_not_tested']],
    'The command exited 0 and executed no test. Exit 0 is no evidence that tests ran.',
    (make) => [
      make.check('tests', 'passed', {
        counts: { executed: 0, passed: 0, failed: 0, skipped: 0, provenance: 'reporter_file' },
      }),
      make.run('reviewer'),
    ],
  ),
  scenario(
    ['blocked-check-unavailable', 'segment', 'blocked', ['check_unavailable']],
    'The check was started and its result never came.',
    (make) => [make.attempt('tests'), make.run('reviewer')],
  ),
  scenario(
    ['blocked-too-many-lost-attempts', 'segment', 'blocked', ['check_unavailable']],
    'Three attempts were lost before one passed; the policy lets a pass outweigh two.',
    (make) => [make.attempt('tests'), make.attempt('tests'), make.attempt('tests'), ...make.clean()],
  ),
  scenario(
    ['human-required-criterion-inconclusive', 'segment', 'human_required', ['criterion_inconclusive']],
    'A verifier looked and could not tell. Another that passes it does not take that back.',
    (make) => [...make.clean(), make.run('reviewer', { 'login-works': 'inconclusive' })],
  ),
  scenario(
    ['blocked-criterion-not-tested', 'segment', 'blocked', ['criterion_not_tested']],
    'The run says of one criterion that it was not tested.',
    (make) => [make.check('tests'), make.run('reviewer', { 'tests-cover-login': 'not_tested' })],
  ),
  scenario(
    [
      'blocked-verifier-unavailable',
      'segment',
      'blocked',
      ['criterion_unavailable', 'criterion_unavailable', 'verifier_unavailable'],
    ],
    'The verifier ran into its provider’s timeout. That is no failure of the work, and no pass.',
    (make) => [make.check('tests'), make.run('reviewer', {}, { outcome: { state: 'unavailable', reason: 'timeout' } })],
  ),
  scenario(
    ['human-required-definition-changed', 'merge', 'human_required', ['definition_changed']],
    'Everything passes, and the change edits package.json: the tests that passed may not be the tests of before.',
    (make) => [
      make.check('tests', 'passed', {
        definitions: [{ path: 'package.json', baseDigest: null, headDigest: make.world.subject.objective.digest }],
      }),
      make.check('candidate-bound'),
      make.run('reviewer'),
    ],
  ),
  scenario(
    ['human-required-person-absent', 'operation', 'human_required', ['human_missing']],
    'An operation of high risk: everything deterministic is there, the operator’s approval is not.',
    (make) => make.clean(),
    { subject: { risk: { class: 'high', securityRequirementRevision: 1 } } },
  ),
];
