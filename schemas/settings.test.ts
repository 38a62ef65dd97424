import { expect, test } from 'vitest';
import { resolveSettings, SETTING_KEYS, SETTINGS } from './settings.ts';

const nothing = { flags: {}, environment: {}, file: {} };

test('a flag wins over the environment, that over the file, that over the default', () => {
  const file = { tenant: 'from-file' };
  const environment = { PORTCULLIS_TENANT: 'from-environment' };
  const flags = { tenant: 'from-flag' };
  const read = (sources: Partial<typeof nothing>) => {
    const settings = resolveSettings({ ...nothing, ...sources });
    return [settings.get('tenant'), settings.origin('tenant')];
  };
  expect(read({ flags, environment, file })).toEqual(['from-flag', 'flag']);
  expect(read({ environment, file })).toEqual(['from-environment', 'environment']);
  expect(read({ file })).toEqual(['from-file', 'file']);
  expect(read({})).toEqual(['local', 'default']);
});

test('a derived default stands behind the file', () => {
  const derived = { 'keys.dir': '/state/keys' };
  expect(resolveSettings({ ...nothing, derived }).get('keys.dir')).toBe('/state/keys');
  expect(resolveSettings({ ...nothing, derived }).origin('keys.dir')).toBe('default');
  expect(resolveSettings({ ...nothing, derived, file: { 'keys.dir': '/k' } }).get('keys.dir')).toBe('/k');
});

test('an empty variable counts as unset', () => {
  const settings = resolveSettings({ ...nothing, environment: { TEMPORAL_ADDRESS: '' } });
  expect([settings.get('temporal.address'), settings.origin('temporal.address')]).toEqual([null, 'unset']);
});

test.each([
  ['tenant', 'a/b'],
  ['tenant', ''],
  ['gateway.port', '65536'],
  ['gateway.port', '-1'],
  ['gateway.port', '1e3'],
  ['gateway.url', 'localhost'],
  ['log.level', 'loud'],
  ['store.maxmemory-mb', '0'],
  ['state.dir', 'two\nlines'],
  ['local.ports', 'some'],
] as const)('%s refuses %j', (key, value) => {
  expect(() => resolveSettings({ ...nothing, flags: { [key]: value } })).toThrow(
    expect.objectContaining({ code: 'setting_invalid', details: expect.objectContaining({ name: key }) as object }),
  );
});

test('[inv-15] the message about a bad secret does not repeat it', () => {
  const bad = () => resolveSettings({ ...nothing, environment: { REDIS_URL: 'hunter2 hunter2' } });
  expect(bad).toThrow(/store\.url/);
  expect(bad).not.toThrow(/hunter2/);
});

test('a key of the file that is no setting is refused by name', () => {
  expect(() => resolveSettings({ ...nothing, file: { tennant: 'x' } })).toThrow(/tennant/);
  expect(() => resolveSettings({ ...nothing, file: { tenant: true } })).toThrow(/tenant/);
});

test('secrets have no flag, and names are used once', () => {
  const entries = SETTING_KEYS.map((key) => SETTINGS[key]);
  expect(entries.filter(({ secret, flag }) => secret && flag !== null)).toEqual([]);
  const flags = entries.flatMap(({ flag }) => (flag === null ? [] : [flag]));
  expect(new Set(flags).size).toBe(flags.length);
  expect(new Set(entries.map(({ env }) => env)).size).toBe(entries.length);
});

test('every default is valid', () => {
  const settings = resolveSettings(nothing);
  for (const key of SETTING_KEYS) {
    const value = settings.get(key);
    if (value !== null) expect(resolveSettings({ ...nothing, flags: { [key]: value } }).get(key)).toBe(value);
  }
});
