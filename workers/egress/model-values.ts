/** Looks into what a call says to the model's host, and says no to it. */
import type { JsonValue } from '../../schemas/canonical.ts';
import { portcullisError } from '../../schemas/errors.ts';

export type JsonObject = { readonly [name: string]: JsonValue };

const CALLED_WITH: ReadonlySet<string> = new Set(['input', 'arguments']);

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isThere(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

/** Something is said by it: a text, or what has one in it. */
export function isGiven(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value !== '';
  if (Array.isArray(value)) return (value as readonly JsonValue[]).some(isGiven);
  return isObject(value) && Object.values(value).some(isGiven);
}

/** Every object in a value, but for what a tool was called with: that is data to the host, whatever it looks like. */
export function* objectsIn(value: JsonValue | undefined): Generator<JsonObject> {
  const open: JsonValue[] = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const inner of next as readonly JsonValue[]) open.push(inner);
    } else if (isObject(next)) {
      for (const [name, inner] of Object.entries(next)) if (!CALLED_WITH.has(name)) open.push(inner);
      yield next;
    }
  }
}

export function kept(what: string) {
  return refused(`${what} names what an earlier call left at the host`);
}

export function refused(reason: string) {
  return portcullisError('model_refused', { reason });
}
