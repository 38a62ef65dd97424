/** Golden vectors: the canonical bytes and the digest of one record of each kind. A change here is a new version of a layout. */
import { describe, expect, test } from 'vitest';
import { digestOf } from '../digest.ts';
import { decideGate } from '../../policies/gates/decide.ts';
import { bytesOf, inputOf, Maker, principal, worldOf } from '../../test/support/gate-fixtures.ts';
import { canonicalText } from '../canonical.ts';
import { checkDefinitionDigest, type CheckDefinition } from './check.ts';
import { contextManifestDigest, orderedContext, type ContextManifest } from './context.ts';
import { decisionDigest } from './decision.ts';
import { evidenceDigest, evidenceItem, evidenceSetOf, orderedEvidence } from './evidence-set.ts';
import { checkDefinitionSchema, readEvidenceRecord } from './evidence.schema.ts';
import { gateDefinitionDigest, gatePolicyDigest, orderedPolicy } from './policy.ts';
import { readGateDefinition, readGatePolicy } from './policy.schema.ts';
import {
  contextManifestSchema,
  grantSchema,
  readGateDecision,
  receiptSchema,
  verificationRequestSchema,
} from './request.schema.ts';
import { verificationRequestDigest, type Grant, type Receipt, type VerificationRequest } from './request.ts';
import { readSubject } from './subject.schema.ts';
import { orderedSubject, subjectDigest } from './subject.ts';

const world = worldOf('merge');
const make = new Maker(world);
const finding = make.finding();
const subject = subjectDigest(world.subject);
const { decision } = decideGate(inputOf(world, make.clean()), [{ index: 'index:subject', length: 4 }]);

const definition: CheckDefinition = {
  schema: 'portcullis/check-definition/v1',
  kind: 'command',
  template: 'npm-test',
  argv: ['npm', 'test'],
  cwd: 'repo',
  expectExitCode: 0,
  timeoutSecs: 600,
  artifacts: [],
};
const request: VerificationRequest = {
  schema: 'portcullis/verification-request/v1',
  tenant: 'local',
  subjectDigest: subject,
  verifier: { principal: principal('sentinel-1', 'sentinel'), class: 'reviewer' },
  methods: ['model', 'deterministic'],
  rules: { id: 'review-rules', revision: 3, digest: bytesOf('the rules') },
  budget: { tokens: 200_000, costMicros: 1_500_000, wallSeconds: 900 },
  modelTier: 'large',
  grantId: 'grant-1',
  priorBlockers: ['finding-2', 'finding-1'],
};
const grant: Grant = {
  schema: 'portcullis/grant/v1',
  tenant: 'local',
  id: 'grant-1',
  revision: 1,
  principal: principal('sentinel-1', 'sentinel'),
  resources: [{ id: 'repo', version: 'b'.repeat(40), mode: 'read' }],
  appendTo: 'run-1',
  expiresAt: 1_796_040_000_000,
  generation: 1,
  revokedAt: null,
};
const receipt: Receipt = {
  schema: 'portcullis/receipt/v1',
  tenant: 'local',
  receiptId: 'receipt-1',
  requestDigest: verificationRequestDigest(request),
  runId: 'run-1',
  routePolicyRevision: 1,
  candidates: [{ provider: 'example', model: 'small-1', configRevision: '1', excludedBy: 'context_too_small' }],
  chosen: { provider: 'example', model: 'large-1', configRevision: '1' },
  reserved: { tokens: 200_000, costMicros: 1_500_000 },
  used: { tokens: 41_000, costMicros: 300_000 },
  outcome: 'served',
  startedAt: 1_796_038_000_000,
  endedAt: 1_796_038_060_000,
};
const context: ContextManifest = {
  schema: 'portcullis/context-manifest/v1',
  tenant: 'local',
  subjectDigest: subject,
  requestDigest: verificationRequestDigest(request),
  constructionPolicyRevision: 1,
  budgetTokens: 200_000,
  included: [
    { id: 'diff', version: 'b'.repeat(40), digest: bytesOf('the diff'), classification: 'internal', tokens: 900 },
  ],
  excluded: [{ id: 'producer-log', reason: 'producer_transcript', required: false }],
  priorBlockers: [],
};
const evidence = {
  'check attempt': make.attempt('tests'),
  'check result': make.check('tests'),
  'verification run': make.run('reviewer'),
  finding,
  disposition: make.disposition(finding, 'resolved'),
  'human decision': make.human({ decision: 'override', case: 'inconclusive', expiresAt: 1_796_050_000_000 }),
};

/** Kind of record: its ordered form, its digest, and its strict reader. */
const GOLDEN: Readonly<Record<string, readonly [record: unknown, digest: string, read: (value: unknown) => unknown]>> =
  {
    subject: [orderedSubject(world.subject), subject, readSubject],
    'gate policy': [orderedPolicy(world.policy), gatePolicyDigest(world.policy), readGatePolicy],
    'gate definition': [world.definition, gateDefinitionDigest(world.definition), readGateDefinition],
    'check definition': [definition, checkDefinitionDigest(definition), (value) => checkDefinitionSchema.parse(value)],
    ...Object.fromEntries(
      Object.entries(evidence).map(([kind, record]) => [
        kind,
        [orderedEvidence(record), evidenceDigest(record), readEvidenceRecord] as const,
      ]),
    ),
    'verification request': [
      { ...request, methods: ['deterministic', 'model'], priorBlockers: ['finding-1', 'finding-2'] },
      verificationRequestDigest(request),
      (value) => verificationRequestSchema.parse(value),
    ],
    grant: [grant, digestOf('evidence', grant), (value) => grantSchema.parse(value)],
    receipt: [receipt, digestOf('evidence', receipt), (value) => receiptSchema.parse(value)],
    'context manifest': [
      orderedContext(context),
      contextManifestDigest(context),
      (value) => contextManifestSchema.parse(value),
    ],
    'gate decision': [decision, decisionDigest(decision), readGateDecision],
  };

describe.each(Object.entries(GOLDEN))('%s', (_, [record, digest, read]) => {
  test('golden bytes and digest', () => {
    expect({ bytes: canonicalText(record), digest }).toMatchSnapshot();
  });

  test('its strict reader takes exactly this, and no other key', () => {
    expect(read(structuredClone(record))).toEqual(record);
    expect(() => read({ ...(record as object), extra: 1 })).toThrow(/nrecognized key/);
  });

  test('each of its fields is needed', () => {
    for (const key of Object.keys(record as object)) {
      const without = Object.fromEntries(Object.entries(record as object).filter(([name]) => name !== key));
      expect(() => read(without), key).toThrow();
    }
  });
});

test('golden: evidence set and evaluation key', () => {
  const set = evidenceSetOf(Object.values(evidence).map(evidenceItem));
  expect({ set: set.digest, key: decision.evaluationKey }).toMatchSnapshot();
});

test('no two records share a digest', () => {
  const digests = Object.values(GOLDEN).map(([, digest]) => digest);
  expect(new Set(digests).size).toBe(digests.length);
});

test('a set longer than a list may be has a digest, and one member more changes it', () => {
  const item = evidenceItem(finding);
  const items = Array.from({ length: 5000 }, (_, n) => ({ ...item, digest: digestOf('finding', n) }));
  const digest = evidenceSetOf(items).digest;
  expect(evidenceSetOf(items.toReversed()).digest).toBe(digest);
  expect(evidenceSetOf(items.slice(1)).digest).not.toBe(digest);
});
