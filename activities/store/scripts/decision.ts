/** Decisions, as the gate worker writes them: once, each with its audit entry. */
import { CHAIN, CHAINED } from './evidence.ts';
import { defineScript } from './script.ts';

/**
 * A decision under its evaluation key, and the subject's n-th pointer to it. Answers `written`, `exists` (read it and compare),
 * `moved` (chain or pointer), `chain`, or `kill_switch reason`.
 */
export const DECIDE = defineScript({
  keys: ['decision', 'pointer', 'killAll', 'killTenant', 'auditHead', 'auditEntry'],
  args: ['decisionText', 'evaluationKey', ...CHAINED],
  uses: [CHAIN],
  body: `
if redis.call('EXISTS', key.decision) == 1 then return {'exists'} end
for _, switchKey in ipairs({key.killAll, key.killTenant}) do
  local text = redis.call('GET', switchKey)
  if text then
    local readable, switch = pcall(cjson.decode, text)
    -- A switch that cannot be read counts as on.
    if not readable or type(switch) ~= 'table' or switch.on ~= false then
      return {'kill_switch', readable and type(switch) == 'table' and tostring(switch.reason) or 'its state cannot be read'}
    end
  end
end
if redis.call('EXISTS', key.pointer) == 1 then return {'moved'} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SETNX', key.decision, arg.decisionText)
redis.call('SETNX', key.pointer, arg.evaluationKey)
chain()
return {'written'}`,
});

/** A decision that disagrees with the one that is there. Both stay. Answers `written`, `same`, `moved` or `chain`. */
export const CONTRADICT = defineScript({
  keys: ['mark', 'record', 'auditHead', 'auditEntry'],
  args: ['markText', 'recordText', ...CHAINED],
  uses: [CHAIN],
  body: `
if redis.call('EXISTS', key.record) == 1 then return {'same'} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SETNX', key.mark, arg.markText)
redis.call('SETNX', key.record, arg.recordText)
chain()
return {'written'}`,
});
