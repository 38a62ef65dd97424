/** Chunks of output: write-once, bounded, and none after the end. */
import { defineScript } from './script.ts';
import { SEQUENCER } from './sequencer.ts';

/** Answers `written`, `same`, `other` (different bytes are there), `ended`, `missing` (no such task) or `full`. */
export const WRITE_CHUNK = defineScript({
  keys: ['chunk', 'task'],
  args: ['bytes', 'size', 'count', 'stream', 'maxBytes'],
  uses: [SEQUENCER],
  body: `
local present = redis.call('GET', key.chunk)
if present then return {present == arg.bytes and 'same' or 'other'} end
local stored, chunks = arg.stream .. '.bytes', arg.stream .. '.chunks'
local task = redis.call('HMGET', key.task, 'state', stored, chunks)
if not task[1] then return {'missing'} end
if ended(task[1]) then return {'ended'} end
local total = tonumber(task[2] or 0) + tonumber(arg.size)
if total > tonumber(arg.maxBytes) then return {'full'} end
redis.call('SETNX', key.chunk, arg.bytes)
redis.call('HSET', key.task, stored, total, chunks, math.max(tonumber(task[3] or 0), tonumber(arg.count)))
return {'written'}`,
});
