import { expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import type { CheckResult } from '../../schemas/gate/check.ts';
import { evidenceItem, type EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import { standingAnswer } from './standing-answer.ts';

type Word = CheckResult['status'] | 'unavailable';

const BINDING = {
  tenant: 'local',
  checkId: 'tests',
  definitionDigest: digestOf('definition', 'tests'),
  head: 'a'.repeat(40),
  executionId: 'e1',
  executionGeneration: 1,
};

/** Attempts of one check in the order in which they were closed. */
const index = (...words: readonly Word[]): readonly EvidenceItem[] =>
  words.flatMap((word, at) => {
    const attempt = at + 1;
    const result: CheckResult = {
      schema: 'portcullis/check-result/v1',
      ...BINDING,
      attempt,
      status: word === 'unavailable' ? 'inconclusive' : word,
      unavailable: word === 'unavailable' ? 'executor_unavailable' : null,
      counts: null,
      refs: [],
      attestation: 'verifier',
      observedAt: attempt,
      executor: null,
      toolchain: null,
      definitions: [],
    };
    const opened = { schema: 'portcullis/check-attempt/v1', ...BINDING, attempt, openedAt: attempt } as const;
    return [evidenceItem(opened), evidenceItem(result)];
  });

test.each<Word>(['not_tested', 'inconclusive', 'unavailable'])(
  '[inv-08] %s is no answer: the check runs again, however often it came to that',
  (word) => {
    expect(standingAnswer(index(word))).toBeNull();
    expect(standingAnswer(index(word, word))).toBeNull();
  },
);

test.each<[readonly Word[], Word]>([
  [['passed'], 'passed'],
  [['not_tested', 'passed'], 'passed'],
  [['passed', 'unavailable'], 'passed'],
  [['failed'], 'failed'],
  [['unavailable', 'failed'], 'failed'],
])('%j: the answer is %s, and nothing runs again', (words, status) => {
  expect(standingAnswer(index(...words))).toMatchObject({ status });
});

test.each<readonly Word[]>([
  ['failed', 'passed'],
  ['passed', 'failed'],
  ['failed', 'not_tested', 'passed'],
])('[inv-02] %j, %j, …: a failure stays the answer, whatever passed beside it', (...words) => {
  expect(standingAnswer(index(...words))).toMatchObject({ status: 'failed' });
});

test('[inv-02] a record that is missing or altered answers nothing', () => {
  const [opened, closed] = index('passed');
  if (opened === undefined || closed === undefined) throw new Error('nothing was closed');
  expect(standingAnswer([opened, { digest: closed.digest, record: null, problem: 'tampered' }])).toBeNull();
  expect(standingAnswer([])).toBeNull();
});
