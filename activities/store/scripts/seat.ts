/** One seat: its line of requests, and whether anybody sits there. */
import { defineScript } from './script.ts';

/** Milliseconds (DESIGN section 2, Presence). */
export const PRESENCE_MS = {
  /** A lease that nobody renews. */
  lease: 5_000,
  /** After the last sight absence is only believed when this is over. */
  seen: 8_000,
  /** After an observed drop: long enough for a reconnect, short enough to call an absent executor absent in 2 s. */
  dropped: 1_500,
  /** After a replica started or lost its store. */
  settling: 8_000,
} as const;

/** Takes a place, or keeps the one it has. Answers rank, lease, and whether settling and seen stand (`1` or empty). */
export const TAKE_PLACE = defineScript({
  keys: ['line', 'lease', 'settling', 'seen'],
  args: ['workflowId'],
  body: `
local rank = redis.call('LPOS', key.line, arg.workflowId)
if not rank then rank = redis.call('RPUSH', key.line, arg.workflowId) - 1 end
return {
  rank,
  redis.call('GET', key.lease) or '',
  redis.call('EXISTS', key.settling) == 1 and '1' or '',
  redis.call('EXISTS', key.seen) == 1 and '1' or '',
}`,
});

/** Leaves the line. Answers who is first now, or empty. */
export const LEAVE_PLACE = defineScript({
  keys: ['line', 'started'],
  args: ['workflowId'],
  body: `
redis.call('LREM', key.line, 0, arg.workflowId)
redis.call('HDEL', key.started, arg.workflowId)
return {redis.call('LINDEX', key.line, 0) or ''}`,
});

/** Notes which boot started a run; the first note stays. Nothing for a workflow that is not in line. */
export const RECORD_STARTED = defineScript({
  keys: ['line', 'started'],
  args: ['workflowId', 'bootId'],
  body: `
if redis.call('LPOS', key.line, arg.workflowId) then
  redis.call('HSETNX', key.started, arg.workflowId, arg.bootId)
end
return {'noted'}`,
});

export const HOLD_PRESENCE = defineScript({
  keys: ['lease', 'seen'],
  args: ['leaseText'],
  body: `
redis.call('SET', key.lease, arg.leaseText, 'PX', ${PRESENCE_MS.lease})
redis.call('SET', key.seen, clock(), 'PX', ${PRESENCE_MS.seen})
return {'held'}`,
});

/** Deletes the lease when this holder still has it: another replica may have taken it over since. */
export const DROP_PRESENCE = defineScript({
  keys: ['lease', 'seen'],
  args: ['holder'],
  body: `
local lease = redis.call('GET', key.lease)
if not lease or cjson.decode(lease).holder ~= arg.holder then return {'kept'} end
redis.call('DEL', key.lease)
redis.call('SET', key.seen, clock(), 'PX', ${PRESENCE_MS.dropped})
return {'dropped'}`,
});
