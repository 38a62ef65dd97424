/** Approvals and reviews: minted by control, used up by the gateway, one winner. */
import { CHAIN, CHAINED } from './evidence.ts';
import { defineScript } from './script.ts';

/**
 * The binding with its audit entry, and that it is the one that counts now. Answers `minted`, `same`, `moved` or `chain`.
 */
export const MINT_APPROVAL = defineScript({
  keys: ['approval', 'current', 'auditHead', 'auditEntry'],
  args: ['id', 'recordText', ...CHAINED],
  uses: [CHAIN],
  body: `
local present = redis.call('GET', key.approval)
-- Minted before, whatever the clock said then: the first expiry stays.
if not present then
  local stands = chainStands()
  if stands then return {stands} end
  redis.call('SETNX', key.approval, arg.recordText)
  chain()
end
redis.call('SET', key.current, arg.id)
return {present and 'same' or 'minted', present or arg.recordText}`,
});

/**
 * Uses an approval up. Answers `consumed`, `repeated` (the same use is there already), `used` (another one is), `expired`,
 * `superseded` (another approval counts now, or none) or `moved` (not the binding that was read).
 */
export const CONSUME_APPROVAL = defineScript({
  keys: ['approval', 'used', 'current'],
  args: ['id', 'readText', 'useText'],
  body: `
if redis.call('GET', key.approval) ~= arg.readText then return {'moved'} end
local use = redis.call('GET', key.used)
if use == arg.useText then return {'repeated'} end
if use then return {'used'} end
if redis.call('GET', key.current) ~= arg.id then return {'superseded'} end
if cjson.decode(arg.readText).expiresAt <= clock() then return {'expired'} end
redis.call('SETNX', key.used, arg.useText)
return {'consumed'}`,
});

/** Appends a review. Answers `appended`, `same`, or `full`. */
export const APPEND_REVIEW = defineScript({
  keys: ['bytes', 'log'],
  args: ['bytes', 'entryText', 'most'],
  body: `
local known = redis.call('LPOS', key.log, arg.entryText)
-- Only the newest entry is the same append repeated: an older one was since replaced, and is now meant again.
if known and redis.call('LINDEX', key.log, -1) == arg.entryText then return {'same'} end
if redis.call('LLEN', key.log) >= tonumber(arg.most) then return {'full'} end
redis.call('SETNX', key.bytes, arg.bytes)
redis.call('RPUSH', key.log, arg.entryText)
return {'appended'}`,
});
