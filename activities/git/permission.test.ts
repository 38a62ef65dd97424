import { expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import type { DecisionStanding } from '../../schemas/gate/activities.ts';
import { DOCUMENTATION_OPERATION } from '../../policies/verification/documentation.ts';
import { DOCUMENTATION_PATHS } from '../../schemas/ticket/activities.ts';
import { worldOf } from '../../test/support/gate-fixtures.ts';
import { landingPermission } from './permission.ts';

const { subject } = worldOf('merge');
const subjectDigest = digestOf('subject', {});
const evaluationKey = digestOf('gate-evaluation', {});
const standing: DecisionStanding = {
  ...{ evaluationKey, decisionDigest: digestOf('decision', {}), decision: 'pass', gate: 'merge', subjectDigest },
  ...{ applicability: 'applicable', moved: [], authorises: true, at: 1, validUntil: null, epoch: 5 },
};
const request = {
  ...{ tenant: 'local', pair: subject.missionId, remote: null, branch: 'main', holder: 'h', evaluationKey },
  ...{ expectedOld: subject.change?.baseDigest ?? '', candidate: subject.change?.headDigest ?? '' },
};

const ask = (
  asked: Partial<typeof request>,
  now: Partial<DecisionStanding> = {},
  there: typeof subject | null = subject,
  within: readonly string[] = DOCUMENTATION_PATHS,
) =>
  landingPermission(
    {
      reader: { readSubject: () => Promise.resolve(there) },
      standing: () => Promise.resolve({ ...standing, ...now }),
      // The change of the request is of documents when nothing else is asked about it.
      describeChange: ({ base, head, within: paths }) =>
        Promise.resolve({
          within:
            base === request.expectedOld && head === request.candidate && paths.every((path) => within.includes(path)),
        }),
    },
    { ...request, ...asked },
  );

const documentation = { ...subject, operation: DOCUMENTATION_OPERATION };
const operation = { gate: 'operation' } as const;

test('a pass of the merge gate lands its own candidate on its own base', async () => {
  expect(await ask({})).toEqual({ authorises: true, reason: '', epoch: 5 });
});

test('a pass of the operation gate lands the documentation that it is about', async () => {
  expect(await ask({}, operation, documentation)).toEqual({ authorises: true, reason: '', epoch: 5 });
});

test('[inv-01] a pass of the operation gate never lands code, whatever its subject says', async () => {
  const answer = await ask({}, operation, documentation, []);
  expect(answer).toMatchObject({ authorises: false, epoch: 5 });
  expect(answer.reason).toMatch(/is more/);
});

test.each<[string, Parameters<typeof ask>]>([
  ['another candidate', [{ candidate: 'c'.repeat(40) }]],
  ['another base', [{ expectedOld: 'c'.repeat(40) }]],
  ['another ticket', [{ pair: 'T-999' }]],
  ['a segment', [{}, { gate: 'segment' }]],
  ['a subject that is not there', [{}, {}, null]],
  ['another operation', [{}, operation, { ...subject, operation: { id: 'export-ledger', version: '1' } }]],
  ['no operation', [{}, operation, subject]],
  ['another documentation', [{ candidate: 'c'.repeat(40) }, operation, documentation]],
  ['a documentation on another base', [{ expectedOld: 'c'.repeat(40) }, operation, documentation]],
  ['what a later entry contradicts', [{}, { applicability: 'contradicted', authorises: false }]],
  ['rework', [{}, { decision: 'rework', authorises: false }]],
])('[inv-03] a decision about %s lands nothing', async (_, args) => {
  const answer = await ask(...args);
  expect(answer).toMatchObject({ authorises: false, epoch: 5 });
  expect(answer.reason).not.toBe('');
});
