/** The sequencer: the only thing that appends to a task's events, and folds each into the snapshot in the same step. */
import { defineScript } from './script.ts';

/**
 * `ended(state)` and `append(task, events, offsets, said, now)`.
 * `append` answers the event's number; a repeated (source, offset) gets the number it has. After the terminal event it
 * answers -1 and counts the refusal; for a task that does not exist -2.
 */
export const SEQUENCER = `
local function ended(state)
  return state == 'completed' or state == 'failed' or state == 'canceled'
end

local function append(task, events, offsets, said, now)
  local at = said.source .. ':' .. said.offset
  local state = redis.call('HGET', task, 'state')
  if not state then return -2 end
  -- A terminal event is never a repeated one: its script looks at the state first.
  local known = not ended(said.state) and redis.call('HGET', offsets, at)
  if known then return tonumber(known) end
  if ended(state) then
    redis.call('HINCRBY', task, 'refused', 1)
    return -1
  end
  local seq = tonumber(redis.call('HGET', task, 'seq')) + 1
  redis.call('XADD', events, seq .. '-0', 'at', now, 'event', said.event)
  redis.call('HSET', offsets, at, seq)
  if said.kind == 'status' then
    redis.call('HSET', task, 'state', said.state, 'phase', said.phase, 'detail', said.detail, 'outcome', said.outcome)
  end
  redis.call('HSET', task, 'seq', seq, 'updatedAt', now)
  return seq
end`;

/** After the end: how long the snapshot and the events stay. */
export const KEEP_ENDED = `
local function keepEnded(task, events, offsets)
  redis.call('PEXPIRE', task, ${30 * 86_400_000})
  redis.call('PEXPIRE', events, ${7 * 86_400_000})
  redis.call('PEXPIRE', offsets, ${7 * 86_400_000})
end`;

/** What an event says, as the arguments of a script. */
export const SAID = ['source', 'offset', 'kind', 'state', 'phase', 'detail', 'outcome', 'event'] as const;

/** Appends one event that does not end the task. Answers its number, or `refused`, or `missing`. */
export const APPEND_EVENT = defineScript({
  keys: ['task', 'events', 'offsets'],
  args: SAID,
  uses: [SEQUENCER],
  body: `
local seq = append(key.task, key.events, key.offsets, arg, clock())
if seq == -2 then return {'missing'} end
if seq == -1 then return {'refused'} end
return {'appended', seq}`,
});
