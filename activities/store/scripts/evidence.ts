/** Evidence, subjects, policies and grants, as the control worker writes them: each with its index and audit entry, or nothing. */
import { defineScript } from './script.ts';

/** What every write that is audited carries: where the chain is expected to stand, and the entry that follows. */
export const CHAINED = ['expectedHead', 'auditText', 'headText'] as const;

/** `chainStands()` is `nil`, or why nothing can be written; `chain()` appends the entry. */
export const CHAIN = `
local function chainStands()
  if (redis.call('GET', key.auditHead) or '') ~= arg.expectedHead then return 'moved' end
  if redis.call('EXISTS', key.auditEntry) == 1 then return 'chain' end
end

local function chain()
  redis.call('SETNX', key.auditEntry, arg.auditText)
  redis.call('SET', key.auditHead, arg.headText)
end`;

/** `decoded(text)` is the table of a record; an empty one for what cannot be read, so that nothing equals what it says. */
const DECODED = `
local function decoded(text)
  local readable, value = pcall(cjson.decode, text or '')
  if readable and type(value) == 'table' then return value end
  return {}
end

local function isCurrentExecution(headText)
  local head = decoded(headText)
  return head.execution == arg.execution and head.generation == tonumber(arg.generation)
end`;

/**
 * A record under its digest with its entry at the end of its index. Answers `recorded`, `moved` (index or chain), `chain`,
 * `conflict` (other bytes are there), `execution_superseded` or `subject_superseded`.
 */
export const ADD_RECORD = defineScript({
  keys: ['record', 'index', 'pairHead', 'subjectHead', 'auditHead', 'auditEntry'],
  args: ['recordText', 'entryText', 'expectedLength', 'execution', 'generation', 'subject', ...CHAINED],
  uses: [CHAIN, DECODED],
  body: `
if redis.call('LLEN', key.index) ~= tonumber(arg.expectedLength) then return {'moved'} end
local stands = chainStands()
if stands then return {stands} end
if not isCurrentExecution(redis.call('GET', key.pairHead)) then return {'execution_superseded'} end
if arg.subject ~= '' and decoded(redis.call('GET', key.subjectHead)).subjectDigest ~= arg.subject then
  return {'subject_superseded'}
end
local present = redis.call('GET', key.record)
if present and present ~= arg.recordText then return {'conflict'} end
redis.call('SETNX', key.record, arg.recordText)
redis.call('RPUSH', key.index, arg.entryText)
chain()
return {'recorded'}`,
});

/**
 * One write-once record and its audit entry; nothing else. Answers `written`, `same`, `conflict`, `moved` or `chain`.
 * A late record is kept this way: it is in no index.
 */
export const PUT_ONCE = defineScript({
  keys: ['record', 'auditHead', 'auditEntry'],
  args: ['recordText', ...CHAINED],
  uses: [CHAIN],
  body: `
local present = redis.call('GET', key.record)
if present then return {present == arg.recordText and 'same' or 'conflict'} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SETNX', key.record, arg.recordText)
chain()
return {'written'}`,
});

/** The same for a revocation, which raises the authority epoch. */
export const REVOKE = defineScript({
  keys: ['record', 'epoch', 'auditHead', 'auditEntry'],
  args: ['recordText', ...CHAINED],
  uses: [CHAIN],
  body: `
if redis.call('EXISTS', key.record) == 1 then return {'same'} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SETNX', key.record, arg.recordText)
redis.call('INCR', key.epoch)
chain()
return {'written'}`,
});

/**
 * A subject, its place in the ticket's list, and the head of its gate when it is of the current execution and not older than
 * what is there. Answers `registered`, `moved`, `chain` or `conflict`.
 */
export const REGISTER_SUBJECT = defineScript({
  keys: ['subject', 'index', 'pairHead', 'subjectHead', 'auditHead', 'auditEntry'],
  args: [
    'subjectText',
    'entryText',
    'expectedLength',
    'subjectHeadText',
    'execution',
    'generation',
    'stateRevision',
    ...CHAINED,
  ],
  uses: [CHAIN, DECODED],
  body: `
if redis.call('LLEN', key.index) ~= tonumber(arg.expectedLength) then return {'moved'} end
local stands = chainStands()
if stands then return {stands} end
local present = redis.call('GET', key.subject)
if present and present ~= arg.subjectText then return {'conflict'} end
redis.call('SETNX', key.subject, arg.subjectText)
redis.call('RPUSH', key.index, arg.entryText)
chain()
if isCurrentExecution(redis.call('GET', key.pairHead)) then
  local newest = decoded(redis.call('GET', key.subjectHead))
  local generation, revision = newest.executionGeneration or 0, newest.stateRevision or 0
  local mine = tonumber(arg.generation)
  if mine > generation or (mine == generation and tonumber(arg.stateRevision) >= revision) then
    redis.call('SET', key.subjectHead, arg.subjectHeadText)
  end
end
return {'registered'}`,
});

/** The policy that a gate applies from now on, when it still applies the one that was read. Raises the authority epoch. */
export const MOVE_POLICY_HEAD = defineScript({
  keys: ['policyHead', 'epoch', 'auditHead', 'auditEntry'],
  args: ['readText', 'policyHeadText', ...CHAINED],
  uses: [CHAIN],
  body: `
if (redis.call('GET', key.policyHead) or '') ~= arg.readText then return {'head_moved'} end
local stands = chainStands()
if stands then return {stands} end
redis.call('SET', key.policyHead, arg.policyHeadText)
redis.call('INCR', key.epoch)
chain()
return {'written'}`,
});
