/** Walks the attacks that the policy or the request's schema answers; test/executor/attacks.test.ts walks the others. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { parseWireRequest } from '../../schemas/verify/request.schema.ts';
import { ATTACKS, ATTACK_RUNS, attacksBy, spelledOut } from '../../test/support/command-attacks.ts';
import { evaluateCommand } from './evaluate.ts';

const { policy } = await loadCommandPolicy();

function rule(argv: readonly string[]) {
  return evaluateCommand(policy, { argv, cwd: 'repo', timeoutSecs: 600, expectExitCode: 0, artifacts: [] });
}

const accepts = (text: string) => parseWireRequest(readStrictJson(new TextEncoder().encode(text)));

describe('[inv-19] a tried attack is refused by name', () => {
  it.each(attacksBy('policy'))('row $row: $attempt', ({ argv, reason }) => {
    const ruling = rule(spelledOut(argv));
    expect(ruling.allowed ? 'allowed' : ruling.reason).toBe(reason);
  });

  it('holds because the whole argv must match: a prefix rule lets most of the same list through', () => {
    const prefixes = policy.templates.filter((one) => one.argv.every((token) => typeof token === 'string'));
    const accepted = attacksBy('policy').filter(({ argv }) => {
      const words = spelledOut(argv);
      return prefixes.some((one) => one.argv.every((token, index) => words[index] === token));
    });
    expect(accepted.length).toBeGreaterThan(20);
  });

  it.each(attacksBy('request'))('on the wire, row $row: $attempt', ({ request, reason }) => {
    expect(() => accepts(request)).toThrow(expect.objectContaining({ code: reason }));
  });

  it('on the wire, what is refused is refused for that alone: the same request without it is taken', () => {
    const good = { kind: 'command', cwd: 'repo', argv: ['npm', 'test'], timeout_secs: 60, expect: { exit_code: 0 } };
    expect(accepts(JSON.stringify({ task_type: 'verify', pair_id: 'T-1', verify: good })).verify.attempt).toBe(1);
  });
});

describe('the list of attacks', () => {
  it('has every row of the table', () => {
    const rows = new Set(ATTACKS.map(({ row }) => row));
    expect(Array.from({ length: 38 }, (_, index) => index + 1).filter((row) => !rows.has(row))).toEqual([]);
  });

  it('names each attempt once, in the order of the rows', () => {
    const names = ATTACKS.map(({ row, attempt, walk }) => `${row} ${attempt} ${walk}`);
    expect(new Set(names).size).toBe(names.length);
    expect(ATTACKS.map(({ row }) => row)).toEqual(ATTACKS.map(({ row }) => row).toSorted((a, b) => a - b));
  });

  // That they run and pass is seen at the end of the run: test/support/attack-reporter.ts.
  it('names files of tests that are there', () => {
    const files = new Set(attacksBy('test').map(({ file }) => file));
    expect([...files].filter((file) => !existsSync(join(import.meta.dirname, '..', '..', file)))).toEqual([]);
  });

  it('uses every run, has each that is used, and looks for something in it', () => {
    expect([...new Set(attacksBy('tool').map(({ run }) => run))].toSorted()).toEqual(
      Object.keys(ATTACK_RUNS).toSorted(),
    );
    const blind = attacksBy('tool').filter((one) => one.says === undefined && one.never === undefined);
    expect(blind.filter(({ answer }) => answer !== 'not_evidence')).toEqual([]);
  });

  it.each(Object.entries(ATTACK_RUNS))('asks in %s for a command that the policy permits', (_, { argv }) => {
    expect(rule(argv).allowed).toBe(true);
  });
});
