import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { ticketDefinitionSchema } from './definition.schema.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/tickets');

const least = {
  schema: 'portcullis/ticket/v1',
  id: 'T-1',
  title: 'One thing',
  repository: { path: '.' },
  checks: [{ check: 'npm-test', argv: ['npm', 'test'] }],
  criteria: [{ id: 'works', text: 'It works.', methods: ['deterministic'] }],
};

test.each(readdirSync(EXAMPLES).filter((name) => /\.(?:yaml|json)$/.test(name)))(
  'the example %s is a ticket under its own name',
  (name) => {
    const value: unknown = parse(readFileSync(join(EXAMPLES, name), 'utf8'));
    expect(ticketDefinitionSchema.parse(value).id).toBe(name.replace(/\.(?:yaml|json)$/, ''));
  },
);

test('a ticket says the least and gets the defaults', () => {
  expect(ticketDefinitionSchema.parse(least)).toMatchObject({
    baseBranch: 'main',
    risk: 'moderate',
    documentation: true,
    issueUrl: null,
    ttlSeconds: {},
    checks: [{ timeoutSeconds: 300 }],
    criteria: [{ required: true }],
  });
});

test.each([
  ['an unknown key', { merge: 'always' }],
  ['no check at all', { checks: [] }],
  ['no criterion at all', { criteria: [] }],
  ['a check named twice', { checks: [...least.checks, ...least.checks] }],
  ['an empty command', { checks: [{ check: 'npm-test', argv: [] }] }],
  ['an id with a slash', { id: 'a/b' }],
  ['both a path and a remote', { repository: { path: '.', remote: 'https://forge.example/r.git' } }],
  ['a remote that runs a command', { repository: { remote: 'ext::sh -c id' } }],
  ['a base branch that is an option', { baseBranch: '--upload-pack=id' }],
  ['a base branch that climbs', { baseBranch: 'a..b' }],
  ['a base branch that producers push', { baseBranch: 'portcullis/T-1' }],
  ['a life of a second', { ttlSeconds: { forge: 1 } }],
  ['a life of a day', { ttlSeconds: { forge: 86_400 } }],
  ['a life of a role without a workspace', { ttlSeconds: { vessel: 600 } }],
  ['seventeen segments', { segmentsHint: 17 }],
])('%s is refused', (_, change) => {
  expect(ticketDefinitionSchema.safeParse({ ...least, ...change }).success).toBe(false);
});
