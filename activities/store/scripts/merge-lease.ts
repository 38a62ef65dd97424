/** Who may land on a branch now. Fencing numbers only grow, also over leases that ran out. */
import { defineScript } from './script.ts';

/** How long a lease lives that nobody renews, milliseconds (spec/gate.md section 5). */
export const MERGE_LEASE_MS = 30_000;

/**
 * Takes the lease when nobody else has it. Whoever takes it again gets a new number: an attempt of before, still under way
 * somewhere, is then found to have lost it. Answers `taken fencing` or `held holder milliseconds-left`.
 */
export const TAKE_MERGE_LEASE = defineScript({
  keys: ['lease', 'fence'],
  args: ['holder'],
  body: `
local text = redis.call('GET', key.lease)
if text then
  local lease = cjson.decode(text)
  if lease.holder ~= arg.holder then return {'held', lease.holder, redis.call('PTTL', key.lease)} end
end
local fencing = redis.call('INCR', key.fence)
local lease = {schema = 'portcullis/merge-lease/v1', holder = arg.holder, fencing = fencing}
redis.call('SET', key.lease, cjson.encode(lease), 'PX', ${MERGE_LEASE_MS})
return {'taken', fencing}`,
});

/** One look, right before the branch moves: the lease renewed if it is still that one, the epoch, a kill switch that is on. */
export const CHECK_MERGE_LEASE = defineScript({
  keys: ['lease', 'epoch', 'killAll', 'killTenant'],
  args: ['fencing'],
  body: `
local epoch = redis.call('GET', key.epoch) or '0'
for _, switchKey in ipairs({key.killAll, key.killTenant}) do
  local text = redis.call('GET', switchKey)
  if text then
    local readable, switch = pcall(cjson.decode, text)
    -- A switch that cannot be read counts as on.
    if not readable or type(switch) ~= 'table' or type(switch.on) ~= 'boolean' then
      return {'killed', epoch, 'its state cannot be read'}
    end
    if switch.on then return {'killed', epoch, tostring(switch.reason)} end
  end
end
local text = redis.call('GET', key.lease)
if not text or cjson.decode(text).fencing ~= tonumber(arg.fencing) then return {'lost', epoch} end
redis.call('SET', key.lease, text, 'PX', ${MERGE_LEASE_MS})
return {'current', epoch}`,
});

/** Gives the lease up when it is still that one. */
export const RELEASE_MERGE_LEASE = defineScript({
  keys: ['lease'],
  args: ['fencing'],
  body: `
local text = redis.call('GET', key.lease)
if text and cjson.decode(text).fencing == tonumber(arg.fencing) then redis.call('DEL', key.lease) end
return {'released'}`,
});
