import { expect, test } from 'vitest';
import type { PairRoles } from '../../schemas/pair.ts';
import { routeRequest, type RoutingAsk } from './evaluate.ts';
import { lintRoutingPolicy } from './lint.ts';
import type { RoutingPolicy } from './types.ts';

const policy: RoutingPolicy = {
  schema: 'portcullis/routing-policy/v1',
  id: 'default',
  revision: 1,
  defaults: { repo: 'verifier', worktree: 'forge' },
  rules: [
    { executor: 'verifier', cwd: ['repo'], askedBy: ['sentinel', 'operator'] },
    { executor: 'forge', cwd: ['repo', 'worktree'], askedBy: ['sentinel'] },
  ],
};
const both: Pick<PairRoles, 'roles' | 'routing'> = {
  roles: ['sentinel', 'verifier', 'forge'],
  routing: { default: 'forge', permitted: ['verifier', 'forge'] },
};
const onlyForge: typeof both = { roles: ['sentinel', 'forge'], routing: { default: 'forge', permitted: ['forge'] } };
const ask = (change: Partial<RoutingAsk> = {}) =>
  routeRequest(policy, { asked: undefined, cwd: 'repo', by: 'sentinel', pair: both, ...change });

test.each<[string, Partial<RoutingAsk>, string]>([
  ['a commit goes to the verifier', {}, 'verifier'],
  ['a live tree goes to the producer', { cwd: 'worktree' }, 'forge'],
  ['a named producer is taken', { asked: 'forge' }, 'forge'],
  ['a pair without a verifier has its own default', { pair: onlyForge }, 'forge'],
])('%s', (_, change, executor) => {
  expect(ask(change)).toEqual({ allowed: true, executor });
});

test.each<[string, Partial<RoutingAsk>, string, RegExp]>([
  ['a live tree of a verifier', { asked: 'verifier', cwd: 'worktree' }, 'verifier', /no request for a worktree/],
  ['somebody whom the rule does not name', { asked: 'forge', by: 'operator' }, 'forge', /not let operator ask/],
  ['a producer that asks', { by: 'forge' }, 'verifier', /not let forge ask/],
  ['a role that the pair does not send to', { asked: 'verifier', pair: onlyForge }, 'verifier', /routing of this pair/],
  [
    'a role that the pair permits and does not have',
    { asked: 'verifier', pair: { roles: ['sentinel'], routing: both.routing } },
    'verifier',
    /routing of this pair/,
  ],
])('[inv-05] %s is refused by name, and no other executor takes its place', (_, change, executor, reason) => {
  const ruling = ask(change);
  expect(ruling).toMatchObject({ allowed: false, executor });
  expect(ruling.allowed ? '' : ruling.reason).toMatch(reason);
});

test('[inv-05] an executor without a rule is asked by nobody', () => {
  const rules = policy.rules.slice(0, 1);
  expect(routeRequest({ ...policy, rules }, { asked: 'forge', cwd: 'repo', by: 'sentinel', pair: both }).allowed).toBe(
    false,
  );
});

const [verifier, forge] = policy.rules;
if (verifier === undefined || forge === undefined) throw new Error('the policy of this test has two rules');

test.each<[string, Partial<RoutingPolicy>, string, RegExp]>([
  ['two rules for one executor', { rules: [verifier, forge, forge] }, 'rules.forge', /two rules/],
  ['a live tree for a verifier', { rules: [{ ...verifier, cwd: ['worktree'] }, forge] }, 'rules.verifier', /live tree/],
  ['a producer that asks', { rules: [verifier, { ...forge, askedBy: ['forge'] }] }, 'rules.forge', /forge may not ask/],
  ['nobody who may ask', { rules: [verifier, { ...forge, askedBy: [] }] }, 'rules.forge', /nobody/],
  ['a default without a rule', { rules: [verifier] }, 'defaults.worktree', /no rule/],
  [
    'a default of another directory',
    { defaults: { repo: 'forge', worktree: 'verifier' } },
    'defaults.worktree',
    /no rule/,
  ],
])('lint finds %s', (_, change, path, problem) => {
  const found = lintRoutingPolicy({ ...policy, ...change }).filter((finding) => finding.path === path);
  expect(found.map((finding) => finding.problem).join()).toMatch(problem);
});

test('lint finds nothing in a sound policy', () => {
  expect(lintRoutingPolicy(policy)).toEqual([]);
});
