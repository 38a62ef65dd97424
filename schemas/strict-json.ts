/**
 * Reads JSON that comes from outside: byte cap, fatal UTF-8, depth and repeated keys checked before anything is built.
 *
 * `JSON.parse` alone keeps the last of two equal keys, so `{"status":"failed","status":"passed"}` would pass. Nothing here
 * recurses, so a hostile document costs time in proportion to its bytes and no stack (spec/gate.md section 2).
 *
 * @example readStrictJson(new TextEncoder().encode('{"a":1}')) // { a: 1 }
 */
import { CANONICAL_LIMITS, type JsonValue } from './canonical.ts';
import { portcullisError } from './errors.ts';

export interface StrictJsonLimits {
  readonly maxBytes: number;
  /** Lists and objects open at once. */
  readonly maxDepth: number;
}

/** What fits a record: 1 MiB and 64 levels, as canonical bytes allow. */
export const STRICT_JSON_LIMITS: StrictJsonLimits = {
  maxBytes: CANONICAL_LIMITS.bytes,
  maxDepth: CANONICAL_LIMITS.depth,
};

/**
 * The value of one JSON document. Give it a schema that refuses unknown keys next; digest what you serialise yourself,
 * never these bytes.
 * @throws `body_too_large`, `json_not_utf8`, `json_too_deep`, `json_repeated_key`, `json_malformed` (also for a lone
 *   surrogate and for a key named `__proto__`, which readers disagree about)
 */
export function readStrictJson(bytes: Uint8Array, limits: StrictJsonLimits = STRICT_JSON_LIMITS): JsonValue {
  if (bytes.length > limits.maxBytes) throw portcullisError('body_too_large', { limit: limits.maxBytes });
  const text = decodeUtf8(bytes);
  scan(text, limits.maxDepth);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw portcullisError('json_malformed', { reason: syntaxReason(error) });
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw portcullisError('json_not_utf8');
  }
  if (text.startsWith('\uFEFF')) throw portcullisError('json_not_utf8');
  return text;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Walks the document once: strings, brackets and commas are all it needs to know a key from a value. It sees less than the
 * grammar; what it lets through `JSON.parse` still has to accept.
 */
function scan(text: string, maxDepth: number): void {
  /** The open containers: the keys seen in an object, `null` for a list. */
  const open: (Set<string> | null)[] = [];
  let keys: Set<string> | null = null;
  let keyComes = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (keyComes && keys !== null) noteKey(keys, unquoted(text, at, end));
        else refuseLoneSurrogate(text, at, end);
        keyComes = false;
        at = end;
        break;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        keyComes = text.charCodeAt(at) === OPEN_OBJECT;
        keys = keyComes ? new Set() : null;
        open.push(keys);
        if (open.length > maxDepth) throw portcullisError('json_too_deep', { limit: maxDepth });
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open.pop();
        keys = open.at(-1) ?? null;
        keyComes = false;
        break;
      case COMMA:
        keyComes = keys !== null;
        break;
    }
  }
}

/** Where the string that starts at `start` ends: the index of its closing quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw portcullisError('json_malformed', { reason: `the string at position ${start} has no end` });
  return end;
}

/** True when an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - 1 - before) % 2 === 1;
}

function noteKey(keys: Set<string>, key: string): void {
  if (key === '__proto__') throw portcullisError('json_malformed', { reason: 'it has a key named __proto__' });
  if (keys.has(key)) throw portcullisError('json_repeated_key', { key: JSON.stringify(key.slice(0, 64)) });
  keys.add(key);
}

/** Only an escape can smuggle one in: the decoder refused every other. */
function refuseLoneSurrogate(text: string, start: number, end: number): void {
  if (text.slice(start, end).includes('\\u')) unquoted(text, start, end);
}

/** The text that a quoted string stands for, escapes resolved: `"\u0078"` and `"x"` are one key. */
function unquoted(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes('\\')) return raw;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(start, end + 1));
  } catch (error) {
    throw portcullisError('json_malformed', { reason: syntaxReason(error) });
  }
  if (typeof value !== 'string' || !value.isWellFormed()) {
    throw portcullisError('json_malformed', { reason: `the string at position ${start} has a lone surrogate` });
  }
  return value;
}

/** The engine's sentence without the excerpt of the document that it quotes: input does not belong in logs. */
function syntaxReason(error: unknown): string {
  const message = error instanceof Error ? error.message : 'it does not follow the grammar';
  return message.replace(/, (?:\.\.\.)?"[^]*$/, '').replace(/ in JSON/, '');
}
