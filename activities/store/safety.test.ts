import { expect, test } from 'vitest';
import { judgeServer, memoryUseOf, parseInfo, type ServerStatement } from './safety.ts';

const INFO = [
  '# Server',
  'redis_version:7.0.15',
  'aof_enabled:1',
  'aof_last_write_status:ok',
  'cluster_enabled:0',
  'maxmemory:1000',
  'used_memory:100',
].join('\r\n');

const CONFIG = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

function statement(info: Record<string, string> = {}, config: Record<string, string> = {}): ServerStatement {
  return {
    info: new Map([...parseInfo(INFO), ...Object.entries(info)]),
    config: new Map(Object.entries({ ...CONFIG, ...config })),
    defaultMayWrite: true,
  };
}

test('a server as it should be has no findings', () => {
  expect(judgeServer(statement())).toEqual([]);
});

test.each<[string, ServerStatement, string]>([
  ['an old version', statement({ redis_version: '6.2.14' }), 'version'],
  ['appendonly off', statement({}, { appendonly: 'no' }), 'appendonly'],
  ['an append-only file that is not open', statement({ aof_enabled: '0' }), 'appendonly'],
  ['everysec', statement({}, { appendfsync: 'everysec' }), 'appendfsync'],
  ['no fsync', statement({}, { appendfsync: 'no' }), 'appendfsync'],
  ['no fsync on rewrite', statement({}, { 'no-appendfsync-on-rewrite': 'yes' }), 'appendfsync_on_rewrite'],
  ['eviction', statement({}, { 'maxmemory-policy': 'volatile-ttl' }), 'eviction'],
  ['cluster mode', statement({ cluster_enabled: '1' }), 'cluster'],
  ['a default user without rights', { ...statement(), defaultMayWrite: false }, 'default_user'],
])('[inv-18] %s is unsafe', (_, said, code) => {
  expect(judgeServer(said)).toMatchObject([{ code, severity: 'unsafe' }]);
});

test('[inv-18] a server that shows nothing is unsafe in every respect', () => {
  const findings = judgeServer({ info: new Map(), config: new Map(), defaultMayWrite: null });
  expect(findings.filter(({ severity }) => severity === 'unsafe').map(({ code }) => code)).toEqual([
    'version',
    'appendonly',
    'appendfsync',
    'appendfsync_on_rewrite',
    'eviction',
    'cluster',
  ]);
});

test.each<[string, ServerStatement, string]>([
  ['less than 20 % free', statement({ used_memory: '801' }), 'memory_low'],
  ['no maxmemory', statement({ maxmemory: '0', total_system_memory: '1000' }), 'memory_unbounded'],
  ['a failing append-only file', statement({ aof_last_write_status: 'err' }), 'write_failing'],
])('%s is a warning', (_, said, code) => {
  expect(judgeServer(said)).toMatchObject([{ code, severity: 'warning' }]);
});

test("the share of memory is of maxmemory, and of the machine's without one", () => {
  expect(memoryUseOf(parseInfo(INFO))).toBe(0.1);
  expect(memoryUseOf(parseInfo('used_memory:5\nmaxmemory:0\ntotal_system_memory:50'))).toBe(0.1);
  expect(memoryUseOf(new Map())).toBe(0);
});
