import { describe, expect, test } from 'vitest';
import type { CheckDefinition } from '../../schemas/gate/check.ts';
import { ticketDefinition } from '../../test/workflows/ticket-stage.ts';
import { objectiveOf } from '../verification/subject.ts';
import { checkTimeout, unknownCheck } from './checks.ts';

const command = (template: string, ...argv: string[]) =>
  ({
    schema: 'portcullis/check-definition/v1',
    kind: 'command',
    template,
    argv,
    cwd: 'repo',
    expectExitCode: 0,
    timeoutSecs: 600,
    artifacts: [],
  }) as const satisfies CheckDefinition;
const NPM = command('npm-test', 'npm', 'test');
const KNOWN: readonly CheckDefinition[] = [
  NPM,
  command('pytest', 'pytest'),
  { schema: 'portcullis/check-definition/v1', kind: 'builtin', name: 'plan-present', version: 1 },
];
const listed = (check: string, argv: readonly string[], timeoutSeconds = 60) => ({ check, argv, timeoutSeconds });

describe('[inv-19] a check that a ticket lists', () => {
  test.each([
    [[listed('npm-test', ['npm', 'test'])], null],
    [[listed('npm-test', ['npm', 'test']), listed('mocha', ['mocha'])], 'mocha'],
    // The name of another check, the command of this one: which of the two was meant, nobody can say.
    [[listed('pytest', ['npm', 'test'])], 'pytest'],
    [[listed('npm-test', ['npm', 'test', '--force'])], 'npm-test'],
    [[listed('plan-present', ['true'])], 'plan-present'],
  ])('%j: the gates do not know %s', (checks, check) => {
    expect(unknownCheck(checks, KNOWN)?.check ?? null).toBe(check);
  });
});

describe('how long a check may take', () => {
  test.each([
    [60, 60],
    [600, 600],
    [3600, 600],
  ])('a ticket that asks for %i s gets %i s', (asked, gets) => {
    expect(checkTimeout([listed('npm-test', ['npm', 'test'], asked)], NPM)).toBe(gets);
  });

  test('is its own time when the ticket does not list it', () => {
    expect(checkTimeout([listed('pytest', ['pytest'], 5)], NPM)).toBe(600);
  });
});

test('[inv-03] how long its checks may take is part of what is judged', () => {
  const asking = (timeoutSeconds: number) =>
    objectiveOf({ ...ticketDefinition('T-1', false), checks: [listed('npm-test', ['npm', 'test'], timeoutSeconds)] });
  expect(asking(60)).toBe(asking(60));
  expect(asking(60)).not.toBe(asking(61));
});
