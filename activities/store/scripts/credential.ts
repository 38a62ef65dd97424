/** Credentials and the codes they are claimed with. */
import { defineScript } from './script.ts';

/** A credential, its place in the pair's set, and its code. Answers `written`, or `conflict` for a revoked or foreign one. */
export const WRITE_CREDENTIAL = defineScript({
  keys: ['credential', 'pairSet', 'code'],
  args: ['id', 'recordText', 'keepUntil', 'inPair', 'codeText'],
  body: `
local present = redis.call('GET', key.credential)
-- Revoked stays revoked, whatever is written later.
if present and cjson.decode(present).state == 'revoked' then return {'conflict'} end
if arg.codeText ~= '' then
  local code = redis.call('GET', key.code)
  if code and cjson.decode(code).credentialId ~= arg.id then return {'conflict'} end
end
redis.call('SET', key.credential, arg.recordText, 'PXAT', arg.keepUntil)
if arg.inPair == '1' then redis.call('SADD', key.pairSet, arg.id) end
if arg.codeText ~= '' then redis.call('SETNX', key.code, arg.codeText) end
return {'written'}`,
});

/** Replaces the record when it is still the one that was read; raises the authority epoch when authority is withdrawn. */
export const REVOKE_CREDENTIAL = defineScript({
  keys: ['credential', 'epoch'],
  args: ['readText', 'recordText', 'keepUntil', 'raise'],
  body: `
if redis.call('GET', key.credential) ~= arg.readText then return {'moved'} end
redis.call('SET', key.credential, arg.recordText, 'PXAT', arg.keepUntil)
if arg.raise == '1' then redis.call('INCR', key.epoch) end
return {'revoked'}`,
});

/** Uses up a code. One winner; expiry by the server's clock. Answers `claimed record`, or `invalid`. */
export const CONSUME_CODE = defineScript({
  keys: ['code', 'used', 'credential'],
  args: ['codeText'],
  body: `
if redis.call('GET', key.code) ~= arg.codeText then return {'invalid'} end
local now = clock()
if cjson.decode(arg.codeText).expiresAt <= now then return {'invalid'} end
local text = redis.call('GET', key.credential)
if not text then return {'invalid'} end
local credential = cjson.decode(text)
if credential.state ~= 'active' or credential.expiresAt <= now then return {'invalid'} end
if redis.call('SETNX', key.used, now) == 0 then return {'invalid'} end
return {'claimed', text}`,
});

/** A kill switch and the authority epoch that it raises. */
export const WRITE_KILL_SWITCH = defineScript({
  keys: ['switch', 'epoch'],
  args: ['text'],
  body: `
redis.call('SET', key.switch, arg.text)
redis.call('INCR', key.epoch)
return {'written'}`,
});
