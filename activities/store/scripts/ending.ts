/** The end of a task: result, pointer, claim, audit entry, terminal event, the place in line; one step. */
import { KEEP_ENDED, SAID, SEQUENCER } from './sequencer.ts';
import { defineScript } from './script.ts';

const CLAIM_MS = 30 * 86_400_000;

/**
 * Answers `ended`, `same` (this result is there already), `conflict` (another end is there), `moved` (the audit chain
 * stands elsewhere), `chain` (its next entry is taken) or `missing` (no such task).
 */
export const END = defineScript({
  keys: [
    'result',
    'verification',
    'claim',
    'waiting',
    'auditHead',
    'auditEntry',
    'task',
    'events',
    'offsets',
    'line',
    'started',
  ],
  args: [
    ...SAID,
    'taskId',
    'workflowId',
    'n',
    'requestSequence',
    'resultText',
    'pointerText',
    'reuseMs',
    'expectedHead',
    'entryText',
    'headText',
  ],
  uses: [SEQUENCER, KEEP_ENDED],
  body: `
local now = clock()

local function leaveLine()
  redis.call('LREM', key.line, 0, arg.workflowId)
  redis.call('HDEL', key.started, arg.workflowId)
end

local present = redis.call('GET', key.result)
if present then
  if present ~= arg.resultText then return {'conflict'} end
  leaveLine()
  return {'same'}
end
local state = redis.call('HGET', key.task, 'state')
if not state then return {'missing'} end
if ended(state) then return {'conflict'} end
if (redis.call('GET', key.auditHead) or '') ~= arg.expectedHead then return {'moved'} end
if redis.call('EXISTS', key.auditEntry) == 1 then return {'chain'} end

redis.call('SETNX', key.result, arg.resultText)
redis.call('SETNX', key.auditEntry, arg.entryText)
redis.call('SET', key.auditHead, arg.headText)
-- A rejected or late older result never replaces a newer one.
local newest = tonumber(redis.call('HGET', key.verification, 'sequence') or 0)
if arg.outcome ~= 'rejected' and tonumber(arg.requestSequence) > newest then
  redis.call('HSET', key.verification, 'sequence', arg.requestSequence, 'pointer', arg.pointerText)
end
local claim = redis.call('HMGET', key.claim, 'taskId', 'n')
if claim[1] == arg.taskId and claim[2] == arg.n then
  redis.call('HSET', key.claim, 'state', arg.outcome, 'reuseUntil', now + tonumber(arg.reuseMs))
  redis.call('PEXPIRE', key.claim, ${CLAIM_MS})
end
redis.call('ZREM', key.waiting, arg.taskId)
append(key.task, key.events, key.offsets, arg, now)
keepEnded(key.task, key.events, key.offsets)
leaveLine()
return {'ended'}`,
});
