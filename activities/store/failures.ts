/** What a client library's or a server's error means to a caller, in the words of the catalogue. */
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';

/** The server's own refusals begin with one word in capitals. */
const AWAY = /^(LOADING|BUSY|MASTERDOWN|READONLY|MISCONF|NOREPLICAS|TRYAGAIN|CLUSTERDOWN)\b/;
const FULL = /^(OOM\b|.*-OOM\b|.*\bOOM command not allowed)/;
const REFUSED = /^(NOPERM|WRONGTYPE|NOSCRIPT|ERR|NOAUTH|WRONGPASS)\b|ACL failure in script|user_script/;

/**
 * - the server is out of memory: `store_full`
 * - no answer, no connection, or a server that cannot serve now: `store_unavailable`
 * - an answer that shows a fault of ours (no permission, wrong type): `internal`
 */
export function storeFailure(thrown: unknown): PortcullisError {
  if (thrown instanceof PortcullisError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (FULL.test(message)) return portcullisError('store_full', {}, thrown);
  if (AWAY.test(message)) return portcullisError('store_unavailable', { reason: firstWord(message) }, thrown);
  if (REFUSED.test(message)) return portcullisError('internal', {}, thrown);
  return portcullisError('store_unavailable', { reason: plain(message) }, thrown);
}

function firstWord(message: string): string {
  return message.split(' ')[0] ?? 'unknown';
}

/** The library's sentences, in the operator's words. */
function plain(message: string): string {
  if (/timed out|timeout/i.test(message)) return 'no answer in time';
  if (/writeable|closed|max retries|ECONN|EPIPE|ENOENT/i.test(message)) return 'no connection';
  return message.slice(0, 120);
}
