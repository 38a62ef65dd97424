import { describe, expect, it } from 'vitest';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { diffCommandPolicies } from './diff.ts';
import { lintCommandPolicy } from './lint.ts';
import type { CommandTemplate } from './types.ts';

const { policy } = await loadCommandPolicy();

function withTemplate(id: string, change: Partial<CommandTemplate>) {
  return { ...policy, templates: policy.templates.map((one) => (one.id === id ? { ...one, ...change } : one)) };
}

describe('lint of a command policy', () => {
  it('finds nothing in the shipped one', () => {
    expect(lintCommandPolicy(policy)).toEqual([]);
  });

  it.each<[string, string, Partial<CommandTemplate>]>([
    [
      'a pattern that is open at its end',
      'cargo-test-package',
      { slots: { crate: { pattern: '^[a-z]+', maxLength: 9 } } },
    ],
    [
      'a pattern whose alternation is anchored by half',
      'cargo-test-package',
      { slots: { crate: { pattern: '^a|b$', maxLength: 9 } } },
    ],
    ['a pattern that takes nothing', 'cargo-test-package', { slots: { crate: { pattern: '^[a-z]*$', maxLength: 9 } } }],
    ['a pattern that is none', 'cargo-test-package', { slots: { crate: { pattern: '^([a-z]$', maxLength: 9 } } }],
    ['a slot without a definition', 'cargo-test-package', { slots: {} }],
    ['a slot that is executed but not asked for', 'cargo-test', { executes: ['cargo', { slot: 'x' }] }],
    ['another tool than was asked for', 'cargo-test', { executes: ['sh', 'test'] }],
    ['a token that no argv may have', 'cargo-test', { executes: ['cargo', 'a b'] }],
    ['a variable that loads code', 'cargo-test', { environment: { LD_PRELOAD: '/x' } }],
    ['more than an hour', 'cargo-test', { maxTimeoutSecs: 3601 }],
    ['a report that nobody writes', 'pytest', { executes: ['pytest'] }],
    ['no exit code', 'cargo-test', { exitCodes: [] }],
    ['an argv that another template takes', 'npm-run-check', { argv: ['npm', 'run', 'test'], slots: {} }],
  ])('finds %s', (_, id, change) => {
    const findings = lintCommandPolicy(withTemplate(id, change));
    expect(findings.map(({ template }) => template)).toContain(id);
  });

  it('finds an id that is used twice', () => {
    const [first] = policy.templates;
    const twice = { ...policy, templates: [...policy.templates, ...(first === undefined ? [] : [first])] };
    expect(lintCommandPolicy(twice).length).toBeGreaterThan(0);
  });
});

describe('the difference of two command policies', () => {
  it('is empty for one and the same', () => {
    expect(diffCommandPolicies(policy, policy)).toEqual([]);
  });

  it('names the field of the template that changed, and templates that came and went', () => {
    const changed = withTemplate('pytest', { maxTimeoutSecs: 60 });
    const less = { ...changed, revision: 2, templates: changed.templates.filter(({ id }) => id !== 'make-test') };
    expect(diffCommandPolicies(policy, less).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'changed revision',
      'removed templates.make-test',
      'changed templates.pytest.maxTimeoutSecs',
    ]);
  });

  it('names the field of the preparation that changed, and preparations that came and went', () => {
    const [first, ...others] = policy.preparations;
    const changed = { ...policy, preparations: [...policy.preparations] };
    changed.preparations = others.map((step) => (step.id === 'pip-install' ? { ...step, installScripts: true } : step));
    expect(diffCommandPolicies(policy, changed).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      `removed preparations.${first?.id ?? ''}`,
      'changed preparations.pip-install.installScripts',
    ]);
  });
});
