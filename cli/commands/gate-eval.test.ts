import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REASONS } from '../../policies/gates/reasons.ts';
import { GATE_EXAMPLES, gateExampleFiles } from '../../scripts/gate-examples.ts';
import { SCENARIOS } from '../../test/support/gate-scenarios.ts';
import { createOutput } from '../output.ts';
import { DECISION_EXIT, gateEval } from './gate-eval.ts';

/** Runs the command and keeps what it printed. */
async function run(file: string, json = true, text?: string) {
  const printed: string[] = [];
  const sink = { write: (chunk: string | Uint8Array) => printed.push(String(chunk)) };
  const output = createOutput({ json, debug: false, color: false }, { stdout: sink, stderr: sink });
  const stdin = async function* () {
    yield await Promise.resolve(text ?? '');
  };
  const exit = await gateEval({ file, stdin: stdin() }, output);
  return { exit, text: printed.join('') };
}

test.each(SCENARIOS)('examples/gate/$name.json is $decision', async ({ name, decision, codes }) => {
  const { exit, text } = await run(join(GATE_EXAMPLES, `${name}.json`));
  const result = JSON.parse(text) as { kind: string; decision: string; reasons: { code: string }[] };
  expect(result.kind).toBe('GateDecision');
  expect({ decision: result.decision, codes: result.reasons.map((reason) => reason.code), exit }).toEqual({
    decision,
    codes,
    exit: DECISION_EXIT[decision],
  });
});

test('the examples show every decision, every reason code, a repository change and an operation', () => {
  expect(new Set(SCENARIOS.map((scenario) => scenario.decision))).toEqual(new Set(Object.keys(DECISION_EXIT)));
  const shown = new Set<string>(SCENARIOS.flatMap((scenario) => scenario.codes));
  // These two need a broken evaluator and ten thousand records: `evaluate.test.ts` has them.
  const unshown = Object.keys(REASONS).filter((code) => !shown.has(code));
  expect(unshown.sort()).toEqual(['evaluator_error', 'evidence_too_much']);
  expect(SCENARIOS.some(({ world }) => world.subject.change !== null)).toBe(true);
  expect(SCENARIOS.some(({ world }) => world.subject.operation !== null)).toBe(true);
});

test('the files are what scripts/gate-examples.ts writes', () => {
  const files = gateExampleFiles();
  expect(readdirSync(GATE_EXAMPLES).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) {
    expect(readFileSync(join(GATE_EXAMPLES, name), 'utf8'), `${name}: run node scripts/gate-examples.ts`).toBe(text);
  }
});

test('the object begins with schema and kind and carries what spec/cli.md names', async () => {
  const { text } = await run(join(GATE_EXAMPLES, 'pass-time-limited.json'));
  expect(text).toMatch(/^\{"schema":"portcullis\/v1","kind":"GateDecision","decision":"pass","reasons":\[\],/);
  expect(JSON.parse(text)).toMatchObject({
    subjectDigest: expect.stringMatching(/^sha256:/) as string,
    evidenceSetDigest: expect.stringMatching(/^sha256:/) as string,
    evaluationKey: expect.stringMatching(/^sha256:/) as string,
    decisionDigest: expect.stringMatching(/^sha256:/) as string,
    validUntil: '2026-11-30T12:30:00.000Z',
  });
});

test('for people: each reason as a sentence, and what to do about it', async () => {
  const { text } = await run(join(GATE_EXAMPLES, 'rework-check-failed.json'), false);
  expect(text).toContain('decision  rework');
  expect(text).toContain('The check tests failed on this head.');
  expect(text).toContain('running it again does not clear a failure');
});

test('reads the request from stdin, and the digests of a subject that was edited no longer fit its evidence', async () => {
  const whole = readFileSync(join(GATE_EXAMPLES, 'pass-repository-change.json'), 'utf8');
  expect((await run('-', true, whole)).exit).toBe(0);
  const edited = await run('-', true, whole.replace('"stateRevision": 12', '"stateRevision": 13'));
  expect(edited.exit).toBe(DECISION_EXIT.blocked);
  expect(edited.text).toContain('evidence_foreign');
});

const whole = readFileSync(join(GATE_EXAMPLES, 'pass-repository-change.json'), 'utf8');
test.each<[string, string, string]>([
  ['no JSON', 'pass', 'json_malformed'],
  ['a key twice', whole.replace('"tenant": "local",', '"tenant": "local", "tenant": "local",'), 'json_repeated_key'],
  ['an unknown key', whole.replace('"tenant": "local",', '"tenant": "local", "trust": "me",'), 'schema_invalid'],
  ['a status of its own', whole.replace('"status": "passed"', '"status": "PASS"'), 'schema_invalid'],
  ['a number that is no integer', whole.replace('"stateRevision": 12', '"stateRevision": 1.5'), 'schema_invalid'],
  ['a number past 2^53', whole.replace('"stateRevision": 12', '"stateRevision": 9007199254740993'), 'schema_invalid'],
  ['text where a number belongs', whole.replace('"stateRevision": 12', '"stateRevision": "12"'), 'schema_invalid'],
  [
    'a policy that maps to pass',
    whole.replace('"hardFailure": "rework"', '"hardFailure": "pass"'),
    'gate_policy_refused',
  ],
  ['no time zone', whole.replace('12:00:00.000Z"', '12:00:00"'), 'schema_invalid'],
])('[inv-19] refuses a request with %s', async (_, text, code) => {
  await expect(run('-', true, text)).rejects.toMatchObject({ code });
});

test('[inv-19] a file that is not there is not found', async () => {
  await expect(run(join(GATE_EXAMPLES, 'no-such.json'))).rejects.toMatchObject({ code: 'not_found' });
});
