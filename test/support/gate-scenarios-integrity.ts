/** Case 1: what is blocked because the evidence or the request itself cannot be trusted. */
import { digestOf } from '../../schemas/digest.ts';
import { evidenceDigest } from '../../schemas/gate/evidence-set.ts';
import { AS_OF, bytesOf, MINUTE, principal, worldOf } from './gate-fixtures.ts';
import { scenario, type Scenario } from './gate-scenario.ts';

const hourly = worldOf('segment').subject.requiredChecks.map((check) => ({
  ...check,
  timeSensitive: true,
  horizonSeconds: 3600,
}));

export const INTEGRITY_SCENARIOS: readonly Scenario[] = [
  scenario(
    ['blocked-record-missing', 'segment', 'blocked', ['evidence_missing_record']],
    'Everything passes, and the index names one more record that the store does not have. It might have been the bad news.',
    (make) => [...make.clean(), { digest: evidenceDigest(make.check('tests', 'failed')), record: null }],
  ),
  scenario(
    ['blocked-record-tampered', 'segment', 'blocked', ['evidence_tampered']],
    'A failed check was edited into a passed one in place: its bytes no longer give the digest that the index names.',
    (make) => {
      const failed = make.check('tests', 'failed');
      return [...make.clean(), { digest: evidenceDigest(failed), record: { ...failed, status: 'passed' } }];
    },
  ),
  scenario(
    ['blocked-record-malformed', 'segment', 'blocked', ['evidence_malformed']],
    'A record of the index does not follow its schema (an unknown key).',
    (make) => {
      const check = make.check('tests');
      return [...make.clean(), { digest: evidenceDigest(check), record: { ...check, trust: 'me' } }];
    },
  ),
  scenario(
    ['blocked-evidence-of-another-execution', 'segment', 'blocked', ['evidence_foreign', 'check_missing']],
    'The only pass of the tests is of execution 1 of the ticket; this is execution 2. Nothing is carried over.',
    (make) => [make.check('tests', 'passed', { executionId: 'exec-0' }), make.run('reviewer')],
  ),
  scenario(
    ['blocked-evidence-stale', 'segment', 'blocked', ['evidence_stale']],
    'The time-sensitive check was observed exactly one horizon ago: expired at equality.',
    (make) => [make.check('tests', 'passed', { observedAt: AS_OF - 60 * MINUTE }), make.run('reviewer')],
    { subject: { requiredChecks: hourly } },
  ),
  scenario(
    ['blocked-evidence-from-the-future', 'segment', 'blocked', ['evidence_from_future']],
    'A run says it was observed a minute after the evaluation began: some clock is wrong, so no horizon can be trusted.',
    (make) => [make.check('tests'), make.run('reviewer', {}, { observedAt: AS_OF + MINUTE })],
  ),
  scenario(
    ['blocked-other-policy', 'segment', 'blocked', ['subject_names_other_policy']],
    'The subject was made under another revision of the policy than the one it is evaluated with.',
    (make) => make.clean(),
    { subject: { gatePolicy: { id: 'segment', revision: 2, digest: digestOf('policy', 'revision 2') } } },
  ),
  scenario(
    ['blocked-other-definition', 'segment', 'blocked', ['subject_names_other_definition']],
    'The subject pins another gate definition.',
    (make) => make.clean(),
    {
      subject: { gateDefinition: { id: 'segment', revision: 2, digest: digestOf('gate-definition', 'revision 2') } },
    },
  ),
  scenario(
    ['blocked-definition-of-other-policy', 'segment', 'blocked', ['definition_names_other_policy']],
    'The gate definition applies another policy than the one handed in.',
    (make) => make.clean(),
    { definition: { policy: { id: 'lenient', revision: 1, digest: digestOf('policy', 'lenient') } } },
  ),
  scenario(
    ['blocked-other-evaluator', 'segment', 'blocked', ['evaluator_version_other']],
    'The gate definition was registered for another version of the evaluator.',
    (make) => make.clean(),
    { definition: { evaluatorVersion: 'portcullis-gate/0' } },
  ),
  scenario(
    ['blocked-nothing-required', 'segment', 'blocked', ['subject_without_required_criteria', 'verifier_missing']],
    'Every criterion of the subject is optional: a pass would be vacuous.',
    (make) => make.clean(),
    {
      subject: {
        criteria: {
          revision: 2,
          digest: bytesOf('optional criteria'),
          items: [{ criterionId: 'login-works', revision: 2, required: false, methods: ['model'] }],
        },
      },
    },
  ),
  scenario(
    ['blocked-not-independent', 'segment', 'blocked', ['independence_violation']],
    'The verifier is a child of the producer: another run id and another token are still the same hand.',
    (make) => [
      make.check('tests'),
      make.run(
        'reviewer',
        {},
        { verifier: { principal: principal('helper-4', 'forge-1', 'forge'), class: 'reviewer' } },
      ),
    ],
  ),
  scenario(
    ['blocked-finding-conflict', 'segment', 'blocked', ['finding_conflict', 'blocker_open']],
    'A blocker was filed again under its own id with a softer standing. Both are kept, and the id cannot be trusted.',
    (make) => {
      const finding = make.finding();
      return [...make.clean(), finding, { ...finding, standing: 'advisory', severity: 'nit' }];
    },
  ),
];
