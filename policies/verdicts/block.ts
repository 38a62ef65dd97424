/** Reads one fenced `json` block: a verdict, a reason why it is none, or something that is not about a verdict. */
import type { JsonValue } from '../../schemas/canonical.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { VERDICT_TOKENS, type UnparseableReason, type VerdictReading } from '../../schemas/verdict.ts';
import { isVerdictToken, normaliseFailureClass, verdictOfWord } from './words.ts';

/** Largest block in UTF-8 bytes, and its deepest nesting. */
export const BLOCK_LIMITS = { maxBytes: 16 * 1024, maxDepth: 32 } as const;

/**
 * What the block says. `null`: it holds JSON without `verdict` and `verdict_token`, so it is another block (a quoted
 * package.json, say) and is passed over. What cannot be read is never passed over: it may be a verdict gone wrong.
 */
export function readBlock(text: string): VerdictReading | null {
  const value = readJson(text);
  if (value.read) return readFields(value.json);
  return unparseable(value.reason, value.detail);
}

type JsonReading =
  | { readonly read: true; readonly json: JsonValue }
  | { readonly read: false; readonly reason: UnparseableReason; readonly detail: string };

function readJson(text: string): JsonReading {
  if (!text.isWellFormed()) {
    return { read: false, reason: 'malformed_json', detail: 'The block holds half of a surrogate pair.' };
  }
  try {
    return { read: true, json: readStrictJson(new TextEncoder().encode(text), BLOCK_LIMITS) };
  } catch (error) {
    if (!(error instanceof PortcullisError)) throw error;
    return { read: false, ...whyUnread(error) };
  }
}

function whyUnread(error: PortcullisError): { readonly reason: UnparseableReason; readonly detail: string } {
  switch (error.code) {
    case 'body_too_large':
      return { reason: 'block_too_large', detail: `The block is larger than ${BLOCK_LIMITS.maxBytes} bytes.` };
    case 'json_repeated_key':
      return { reason: 'repeated_key', detail: `The block has the key ${quoted(error.details['key'])} twice.` };
    case 'json_too_deep':
      return { reason: 'too_deep', detail: `The block is nested deeper than ${BLOCK_LIMITS.maxDepth} levels.` };
    default:
      return { reason: 'malformed_json', detail: 'The block is not one JSON value.' };
  }
}

function readFields(json: JsonValue): VerdictReading | null {
  if (json === null || typeof json !== 'object' || isList(json)) return null;
  const block = {
    verdict: own(json, 'verdict'),
    token: own(json, 'verdict_token'),
    failure: own(json, 'failure_class'),
  };
  if (block.verdict === undefined && block.token === undefined) return null;
  if (!isText(block.verdict)) return wrongType('verdict');
  if (!isText(block.token)) return wrongType('verdict_token');
  if (!isText(block.failure)) return wrongType('failure_class');
  const { verdict: word, token, failure } = block;
  if (token !== undefined && !isVerdictToken(token)) {
    return unparseable(
      'unknown_token',
      `The verdict_token ${quoted(token)} is none of ${VERDICT_TOKENS.join(', ')} (in capitals).`,
    );
  }
  // The seed's own reviewer leaves `verdict` out beside a token; a token only ever goes with a rejection.
  const verdict = word === undefined ? 'REJECTED' : verdictOfWord(word);
  switch (verdict) {
    case null:
      return unparseable('unknown_verdict', `The verdict ${quoted(word)} is neither APPROVED nor REJECTED.`);
    case 'APPROVED':
      if (token === undefined) return { verdict };
      return unparseable('approved_with_token', `The block says APPROVED and carries the token ${token}.`);
    case 'REJECTED':
      if (token === undefined) {
        return unparseable('rejected_without_token', `A rejection needs one of ${VERDICT_TOKENS.join(', ')}.`);
      }
      return { verdict, token, failureClass: failure === undefined ? null : normaliseFailureClass(failure) };
  }
}

function isList(json: JsonValue): json is readonly JsonValue[] {
  return Array.isArray(json);
}

/** Own properties only: `{}` has no `verdict`, whatever its prototype has. */
function own(object: { readonly [name: string]: JsonValue }, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isText(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function wrongType(field: string): VerdictReading {
  return unparseable('wrong_type', `The field ${field} is not a string.`);
}

function unparseable(reason: UnparseableReason, detail: string): VerdictReading {
  return { verdict: 'UNPARSEABLE', reason, detail };
}

/** At most 40 characters of what the reviewer wrote, in plain ASCII: it ends up on terminals and in a prompt. */
function quoted(text: unknown): string {
  const shown = String(text);
  return JSON.stringify(shown.length > 40 ? `${shown.slice(0, 40)}...` : shown).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
