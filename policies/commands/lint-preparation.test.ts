import { describe, expect, it } from 'vitest';
import shipped from './documents/default.json' with { type: 'json' };
import { lintCommandPolicy } from './lint.ts';
import type { CommandPolicy } from './types.ts';

// The loader checks the shape; this is about sense.
const policy = shipped as unknown as CommandPolicy;
const npm = policy.preparations[0]!;

function problems(change: Partial<typeof npm>): readonly string[] {
  const [, ...others] = policy.preparations;
  return lintCommandPolicy({ ...policy, preparations: [{ ...npm, ...change }, ...others] }).map(
    ({ problem }) => problem,
  );
}

describe('the preparations of a policy', () => {
  it('that is shipped have no finding', () => expect(problems({})).toEqual([]));

  it.each<[string, Partial<typeof npm>, RegExp]>([
    ['another tool', { commands: [['sh', '-c', 'npm']] }, /another tool/],
    ['scripts that may run after all', { commands: [['npm', 'ci']] }, /no command says --ignore-scripts/],
    [
      'a registry that is named by its server',
      { environment: { npm_config_registry: 'https://evil.example/' } },
      /names a server/,
    ],
    ['a loader', { environment: { LD_PRELOAD: '/x' } }, /may not set LD_PRELOAD/],
    ['an option of Node', { provides: { NODE_OPTIONS: '--require=/x' } }, /may not set NODE_OPTIONS/],
    ['unchecked modules', { environment: { GONOSUMDB: '*' } }, /unchecked/],
    ['no end', { timeoutSecs: 100_000 }, /timeoutSecs/],
    ['a lockfile out of the tree', { lockfiles: ['../package-lock.json'] }, /not inside the tree/],
    ['a word with a space', { commands: [['npm', 'ci --ignore-scripts']] }, /space/],
  ])('[inv-19] may not have %s', (_, change, reason) => expect(problems(change).join('\n')).toMatch(reason));

  it('[inv-19] must be there when a template names one', () => {
    const named = policy.templates.map((template) => ({ ...template, prepare: 'none' }));
    expect(lintCommandPolicy({ ...policy, templates: named })[0]?.problem).toBe('there is no preparation none');
  });
});
