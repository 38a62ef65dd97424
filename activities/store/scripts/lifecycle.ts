/** Lifecycle events and the projections they are written with. */
import { defineScript } from './script.ts';

/**
 * `ring(key, cap, now, event)`: appends one event under the next number. The number is the last one's plus one, so it needs no
 * counter, and what fell off is the last number less the length.
 */
export const RING = `
local function ring(key, cap, now, event)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local seq = 1
  if last then seq = tonumber(string.match(last[1], '^(%d+)')) + 1 end
  redis.call('XADD', key, 'MAXLEN', '=', cap, seq .. '-0', 'at', now, 'event', event)
  return seq
end`;

/** A workspace's projection with what happened. Answers `written`, or `repeated` for a number that was written. */
export const RECORD_WORKSPACE = defineScript({
  keys: ['workspace', 'index', 'open', 'ring'],
  args: ['id', 'source', 'n', 'recordText', 'isOpen', 'keepMs', 'cap', 'event1', 'event2', 'event3'],
  uses: [RING],
  body: `
local at = redis.call('HMGET', key.workspace, 'source', 'n')
if at[1] == arg.source and tonumber(at[2]) >= tonumber(arg.n) then return {'repeated'} end
local now = clock()
redis.call('HSET', key.workspace, 'record', arg.recordText, 'source', arg.source, 'n', arg.n)
redis.call('ZADD', key.index, now, arg.id)
redis.call('ZREMRANGEBYSCORE', key.index, '-inf', now - arg.keepMs)
if arg.isOpen == '1' then
  redis.call('SADD', key.open, arg.id)
  redis.call('PERSIST', key.workspace)
else
  redis.call('SREM', key.open, arg.id)
  redis.call('PEXPIRE', key.workspace, arg.keepMs)
end
for _, event in ipairs({arg.event1, arg.event2, arg.event3}) do
  if event ~= '' then ring(key.ring, arg.cap, now, event) end
end
return {'written'}`,
});

/** Events of nothing that has a projection here. */
export const APPEND_LIFECYCLE = defineScript({
  keys: ['ring'],
  args: ['cap', 'event1', 'event2', 'event3'],
  uses: [RING],
  body: `
local now = clock()
for _, event in ipairs({arg.event1, arg.event2, arg.event3}) do
  if event ~= '' then ring(key.ring, arg.cap, now, event) end
end
return {'written'}`,
});

/** Replaces a pair's roles when they are still what was read: two roles of a pair move side by side. */
export const REPLACE_ROLES = defineScript({
  keys: ['roles'],
  args: ['readText', 'rolesText'],
  body: `
if redis.call('GET', key.roles) ~= arg.readText then return {'moved'} end
redis.call('SET', key.roles, arg.rolesText)
return {'replaced'}`,
});

/** An incident and its place in the list. */
export const WRITE_INCIDENT = defineScript({
  keys: ['incident', 'index'],
  args: ['id', 'openedAt', 'recordText'],
  body: `
redis.call('SET', key.incident, arg.recordText)
redis.call('ZADD', key.index, arg.openedAt, arg.id)
return {'written'}`,
});
