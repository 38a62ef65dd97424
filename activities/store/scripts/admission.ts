/** Admission, and what undoes or confirms it. */
import { KEEP_ENDED, SAID, SEQUENCER } from './sequencer.ts';
import { defineScript } from './script.ts';

/** How long a messageId is remembered, and a claim after its run ended. Milliseconds. */
const MESSAGE_MS = 24 * 3_600_000;
const CLAIM_MS = 30 * 86_400_000;
/** Tasks older than this leave the list of their pair; their snapshots are gone by then, or soon. */
const LISTED_MS = 60 * 86_400_000;

/**
 * MessageId, claim, audit request, snapshot, first event and list entry together, or nothing.
 * Answers `accepted`, `joined task state`, `moved`, `message_conflict`, or `kill_switch reason`.
 */
export const ADMIT = defineScript({
  keys: [
    'message',
    'killAll',
    'killTenant',
    'claim',
    'sequence',
    'request',
    'task',
    'events',
    'offsets',
    'pairTasks',
    'waiting',
  ],
  args: [
    ...SAID,
    'bodyDigest',
    'taskId',
    'workflowId',
    'n',
    'requestSequence',
    'createdAt',
    'requestText',
    'snapshotText',
  ],
  uses: [SEQUENCER],
  body: `
local now = clock()

local function remember(taskId)
  local text = cjson.encode({schema = 'portcullis/message/v1', bodyDigest = arg.bodyDigest, taskId = taskId})
  redis.call('SET', key.message, text, 'PX', ${MESSAGE_MS})
end

local message = redis.call('GET', key.message)
if message then
  local known = cjson.decode(message)
  if known.bodyDigest ~= arg.bodyDigest then return {'message_conflict'} end
  local waiting = redis.call('ZSCORE', key.waiting, known.taskId)
  return {'joined', known.taskId, waiting and 'accepted' or ''}
end

for _, switchKey in ipairs({key.killAll, key.killTenant}) do
  local text = redis.call('GET', switchKey)
  if text then
    local readable, switch = pcall(cjson.decode, text)
    -- A switch that cannot be read counts as on.
    if not readable or type(switch) ~= 'table' or type(switch.on) ~= 'boolean' then
      return {'kill_switch', 'its state cannot be read'}
    end
    if switch.on then return {'kill_switch', tostring(switch.reason)} end
  end
end

local claim = redis.call('HMGET', key.claim, 'n', 'state', 'taskId', 'reuseUntil')
local lastN, state, holder, reuseUntil = tonumber(claim[1] or 0), claim[2], claim[3], tonumber(claim[4] or 0)
if state == 'accepted' or state == 'open' or reuseUntil > now then
  remember(holder)
  return {'joined', holder, state}
end

local newest = redis.call('ZRANGE', key.pairTasks, 0, 0, 'REV', 'WITHSCORES')[2]
if tonumber(arg.n) ~= lastN + 1
  or tonumber(arg.requestSequence) ~= tonumber(redis.call('GET', key.sequence) or 0) + 1
  -- Tasks of a pair are listed and paged by the time of their creation, so no two may share it.
  or (newest and tonumber(newest) >= tonumber(arg.createdAt))
then
  return {'moved'}
end
if redis.call('EXISTS', key.request) == 1 then
  -- The claim expired and its run is still on record: the next n has another task.
  redis.call('HSET', key.claim, 'schema', 'portcullis/claim/v1', 'n', arg.n, 'state', 'released')
  redis.call('PEXPIRE', key.claim, ${CLAIM_MS})
  return {'moved'}
end

redis.call('SETNX', key.request, arg.requestText)
redis.call('SET', key.sequence, arg.requestSequence)
remember(arg.taskId)
redis.call('HSET', key.claim, 'schema', 'portcullis/claim/v1', 'n', arg.n, 'state', 'accepted', 'taskId', arg.taskId,
  'workflowId', arg.workflowId, 'sequence', arg.requestSequence, 'reuseUntil', 0)
redis.call('PERSIST', key.claim)
redis.call('HSET', key.task, 'schema', 'portcullis/task/v1', 'snapshot', arg.snapshotText, 'state', 'submitted', 'seq', 0)
append(key.task, key.events, key.offsets, arg, now)
redis.call('ZADD', key.pairTasks, arg.createdAt, arg.taskId)
redis.call('ZREMRANGEBYSCORE', key.pairTasks, '-inf', now - ${LISTED_MS})
redis.call('ZADD', key.waiting, now, arg.taskId)
return {'accepted'}`,
});

/** Where the claim stands: next n, next sequence, and a time later than the pair's newest task. */
export const VIEW_CLAIM = defineScript({
  keys: ['claim', 'sequence', 'pairTasks'],
  args: [],
  body: `
local newest = redis.call('ZRANGE', key.pairTasks, 0, 0, 'REV', 'WITHSCORES')[2]
return {
  tonumber(redis.call('HGET', key.claim, 'n') or 0) + 1,
  tonumber(redis.call('GET', key.sequence) or 0) + 1,
  math.max(clock(), tonumber(newest or 0) + 1),
}`,
});

/** The start happened: `accepted` becomes `open`, once. */
export const CONFIRM = defineScript({
  keys: ['claim', 'waiting'],
  args: ['taskId'],
  body: `
local claim = redis.call('HMGET', key.claim, 'taskId', 'state')
if claim[1] == arg.taskId and claim[2] == 'accepted' then redis.call('HSET', key.claim, 'state', 'open') end
redis.call('ZREM', key.waiting, arg.taskId)
return {'confirmed'}`,
});

/** The start certainly failed: claim and messageId are free, the task ends. `kept` when somebody's start went through. */
export const RELEASE = defineScript({
  keys: ['claim', 'message', 'waiting', 'task', 'events', 'offsets'],
  args: [...SAID, 'taskId'],
  uses: [SEQUENCER, KEEP_ENDED],
  body: `
local claim = redis.call('HMGET', key.claim, 'taskId', 'state')
if claim[1] ~= arg.taskId or claim[2] ~= 'accepted' then return {'kept'} end
local message = redis.call('GET', key.message)
if message and cjson.decode(message).taskId == arg.taskId then redis.call('DEL', key.message) end
redis.call('HSET', key.claim, 'state', 'released', 'reuseUntil', 0)
redis.call('PEXPIRE', key.claim, ${CLAIM_MS})
redis.call('ZREM', key.waiting, arg.taskId)
append(key.task, key.events, key.offsets, arg, clock())
keepEnded(key.task, key.events, key.offsets)
return {'released'}`,
});
