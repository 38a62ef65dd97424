import { describe, expect, test } from 'vitest';
import { aclFile, userRules } from './acl.ts';
import { CHANGING_FAMILIES, IMMUTABLE_FAMILIES } from './families.ts';
import { STORE_USERS } from './users.ts';

const passwords = { admin: 'a', control: 'c', gate: 'g', gateway: 'w', reader: 'r' };

test('[inv-15] no password is in the file, only its digest', () => {
  const secret = { ...passwords, control: 'correct horse battery staple' };
  const text = aclFile({ tenants: ['local'], passwords: secret });
  expect(text).not.toContain(secret.control);
  expect(text).not.toContain('nopass');
  expect(text.match(/ #[0-9a-f]{64} /g)).toHaveLength(5);
});

test('[inv-05] nobody can be default: it is off and has no password', () => {
  const [line] = aclFile({ tenants: ['local'], passwords }).split('\n');
  expect(line).toMatch(/^user default off .*resetpass/);
});

describe.each(STORE_USERS)('[inv-05] %s', (user) => {
  const rules = userRules(user, ['local', 'acme']).join(' ');

  test('has commands one by one and no category', () => {
    expect(rules).not.toContain('+@');
    expect(rules).not.toMatch(/\ballcommands\b|\ballkeys\b|~\*(\s|\))/);
  });

  test('has no pattern with a wildcard before the family', () => {
    const patterns = rules.match(/(?:%R)?~\S+?(?=[\s)]|$)/g) ?? [];
    expect(patterns.length).toBeGreaterThan(0);
    for (const pattern of patterns) expect(pattern).toMatch(/~ns:(local|acme|_global):/);
  });

  test('has none of the commands that empty, rename or trim', () => {
    const forbidden =
      /\+(flush|rename|xtrim|xdel|unlink|getdel|getex|restore|migrate|move|copy|ltrim|config\|set|evalsha|fcall|function|script|keys|sort|debug|shutdown|acl\|setuser)/;
    expect(rules).not.toMatch(forbidden);
  });
});

test('[inv-05] immutable families have SETNX and nothing else', () => {
  for (const { keys, writers } of IMMUTABLE_FAMILIES) {
    for (const commands of Object.values(writers)) expect(commands, keys).toEqual(['setnx']);
  }
});

test('[inv-05] only the gate writes decisions, only control writes results, and the reader writes nothing', () => {
  const families = [...IMMUTABLE_FAMILIES, ...CHANGING_FAMILIES];
  const writersOf = (keys: string) =>
    families.filter((one) => one.keys === keys).flatMap((one) => Object.keys(one.writers));
  expect(writersOf('decision:*')).toEqual(['gate']);
  expect(writersOf('contradiction:*')).toEqual(['gate']);
  expect(writersOf('audit:a2a:*:result')).toEqual(['control']);
  expect(families.filter(({ writers }) => 'reader' in writers)).toEqual([]);
  expect(userRules('reader', ['local']).join(' ')).not.toContain('+eval');
});

test('[inv-19] a tenant whose name is no name makes no rules', () => {
  for (const tenant of ['*', 'a b', 'x) (+@all ~*', '', '_global']) {
    expect(() => aclFile({ tenants: [tenant], passwords })).toThrow('tenant must match');
  }
});
