/** The audit chain by itself: one entry at its end. */
import { CHAIN, CHAINED } from './evidence.ts';
import { defineScript } from './script.ts';

/** Answers `appended`, `moved` or `chain`. */
export const APPEND_AUDIT = defineScript({
  keys: ['auditHead', 'auditEntry'],
  args: CHAINED,
  uses: [CHAIN],
  body: `
local stands = chainStands()
if stands then return {stands} end
chain()
return {'appended'}`,
});

/** The same for what is entered once, with a mark of where. Answers `same` and the mark when it is there. */
export const APPEND_AUDIT_ONCE = defineScript({
  keys: ['mark', 'auditHead', 'auditEntry'],
  args: ['n', ...CHAINED],
  uses: [CHAIN],
  body: `
local there = redis.call('GET', key.mark)
if there then return {'same', there} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SETNX', key.mark, arg.n)
chain()
return {'appended'}`,
});
