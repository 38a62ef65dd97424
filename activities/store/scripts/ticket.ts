/** The projection of a ticket, moved on with its head and its event in one step. */
import { defineScript } from './script.ts';
import { RING } from './lifecycle.ts';

/** Answers `written`, or `repeated` for a number that was folded in: an older one never overwrites a newer. */
export const WRITE_TICKET = defineScript({
  keys: ['ticket', 'index', 'open', 'head', 'ring'],
  args: ['id', 'seq', 'isOpen', 'recordText', 'headText', 'cap', 'event'],
  uses: [RING],
  body: `
local seq = redis.call('HGET', key.ticket, 'seq')
if seq and tonumber(seq) >= tonumber(arg.seq) then return {'repeated'} end
local now = clock()
redis.call('HSET', key.ticket, 'record', arg.recordText, 'seq', arg.seq)
redis.call('ZADD', key.index, now, arg.id)
redis.call(arg.isOpen == '1' and 'SADD' or 'SREM', key.open, arg.id)
redis.call('SET', key.head, arg.headText)
ring(key.ring, arg.cap, now, arg.event)
return {'written'}`,
});
