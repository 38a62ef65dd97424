import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestOf } from './digest.ts';
import { GATE_KINDS } from './gate/vocabulary.ts';
import { keysOf } from './keys.ts';
import { executorQueue, parseExecutorQueue } from './queues.ts';
import {
  anchorWorkflowId,
  closeIncidentWorkflowId,
  gateWorkflowId,
  openPairWorkflowId,
  parseAnchorWorkflowId,
  parseCloseIncidentWorkflowId,
  parseGateWorkflowId,
  parseOpenPairWorkflowId,
  parseReconcileWorkflowId,
  parseVerifyWorkflowId,
  reconcileWorkflowId,
  verifyWorkflowId,
} from './workflow-ids.ts';

const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const digest = fc.integer().map((n) => digestOf('request', n));
const n = fc.integer({ min: 1, max: 1_000_000 });

test('a workflow id parses back to what it was built from', () => {
  fc.assert(
    fc.property(name, name, digest, n, (tenant, pair, d, count) => {
      const run = { tenant, pair, digest: d, n: count };
      expect(parseVerifyWorkflowId(verifyWorkflowId(run))).toEqual(run);
      expect(parseOpenPairWorkflowId(openPairWorkflowId({ tenant, pair }))).toEqual({ tenant, pair });
      const incident = { tenant, incident: pair };
      expect(parseCloseIncidentWorkflowId(closeIncidentWorkflowId(incident))).toEqual(incident);
      expect(parseReconcileWorkflowId(reconcileWorkflowId(tenant))).toBe(tenant);
    }),
  );
});

test('an executor queue parses back to its seat', () => {
  fc.assert(
    fc.property(
      name,
      name,
      fc.constantFrom('forge' as const, 'verifier' as const),
      n,
      (tenant, pair, role, workspaceGeneration) => {
        const seat = { tenant, pair, role, workspaceGeneration };
        expect(parseExecutorQueue(executorQueue(seat))).toEqual(seat);
      },
    ),
  );
});

test.each([
  '',
  'executor/a/b/verifier',
  'executor/a/b/sentinel/1',
  'executor/a/b/verifier/0',
  'executor/a/b/verifier/1/x',
  'control/a',
])('[inv-19] refuses %j as an executor queue', (text) => expect(() => parseExecutorQueue(text)).toThrow('executor/'));

test.each(['a/b', 'a:b', '', '.a', 'a\n', 'ä', 'x'.repeat(65)])(
  '[inv-19] refuses %j as a tenant in any id, key or queue',
  (tenant) => {
    expect(() => keysOf(tenant)).toThrow('must match');
    expect(() => openPairWorkflowId({ tenant, pair: 'p' })).toThrow('must match');
    expect(() => executorQueue({ tenant, pair: 'p', role: 'verifier', workspaceGeneration: 1 })).toThrow('must match');
  },
);

test('two tenants never share a key', () => {
  expect(keysOf('a').task('t')).toBe('ns:a:a2a:t');
  expect(keysOf('b').task('t')).toBe('ns:b:a2a:t');
});

test.each(GATE_KINDS)('the id of a %s gate is parsed back to what it was made from', (kind) => {
  const run = { tenant: 'acme', subjectDigest: digestOf('subject', kind), kind, n: 3 };
  expect(parseGateWorkflowId(gateWorkflowId(run))).toEqual(run);
  expect(() => parseGateWorkflowId(gateWorkflowId(run).replace(kind, 'other'))).toThrow('no gate kind');
  expect(parseAnchorWorkflowId(anchorWorkflowId('acme'))).toBe('acme');
});

test('indexes of two checks never share a key, whatever colons their ids hold', () => {
  const of = { definitionDigest: digestOf('definition', 1), ticket: 't', executionId: 'e1', executionGeneration: 1 };
  const key = (checkId: string, head: string) => keysOf('a').checkIndex({ ...of, checkId, head });
  const hex = 'b'.repeat(64);
  const heads = ['b'.repeat(40), hex, `sha256:${hex}`];
  const made = ['tests', 'tests:unit', 'tests/unit'].flatMap((id) => heads.map((head) => key(id, head)));
  expect(new Set(made).size).toBe(made.length);
  expect(() => key('a b', heads[0] ?? '')).toThrow('must match');
});
