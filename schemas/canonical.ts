/**
 * Canonical bytes: the one serialisation that digests and signatures are made over (RFC 8785, narrowed).
 *
 * Narrower than RFC 8785 on purpose: only safe integers, no `-0`, no lone surrogates, bounded depth, size and lists.
 * A value that two readers could understand differently has no canonical bytes.
 *
 * @example canonicalBytes({ b: 1, a: 'x' }) // the UTF-8 of {"a":"x","b":1}
 */
import { portcullisError } from './errors.ts';

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** Bounds of a canonical value (spec/gate.md section 2). Longer sets go in as the digest of a list. */
export const CANONICAL_LIMITS = { depth: 64, bytes: 1024 * 1024, listMembers: 4096 } as const;

/**
 * The canonical bytes of a plain JSON value.
 * @throws `canonical_unsupported` for anything outside the domain, naming the path and the reason.
 */
export function canonicalBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(canonicalText(value));
}

/** The same as text; its UTF-8 encoding is {@link canonicalBytes}. @throws `canonical_unsupported` */
export function canonicalText(value: unknown): string {
  const out: Output = { parts: [], chars: 0 };
  write(value, '$', 0, out);
  const text = out.parts.join('');
  if (new TextEncoder().encode(text).length > CANONICAL_LIMITS.bytes) refuse('$', 'is larger than 1 MiB');
  return text;
}

interface Output {
  readonly parts: string[];
  chars: number;
}

function refuse(path: string, reason: string): never {
  throw portcullisError('canonical_unsupported', { path: path.slice(0, 200), reason });
}

function emit(text: string, path: string, out: Output): void {
  out.chars += text.length;
  // UTF-8 is never shorter than UTF-16 code units, so this stops a huge value before it is built.
  if (out.chars > CANONICAL_LIMITS.bytes) refuse(path, 'is larger than 1 MiB');
  out.parts.push(text);
}

function write(value: unknown, path: string, depth: number, out: Output): void {
  if (depth > CANONICAL_LIMITS.depth) refuse(path, 'is nested deeper than 64 levels');
  switch (typeof value) {
    case 'string':
      emit(quote(value, path), path, out);
      return;
    case 'boolean':
      emit(value ? 'true' : 'false', path, out);
      return;
    case 'number':
      if (!Number.isSafeInteger(value)) refuse(path, 'is not a safe integer; write larger numbers as decimal strings');
      if (Object.is(value, -0)) refuse(path, 'is negative zero');
      emit(String(value), path, out);
      return;
    case 'object':
      if (value === null) emit('null', path, out);
      else if (Array.isArray(value)) writeList(value, path, depth, out);
      else writeObject(value, path, depth, out);
      return;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      return refuse(path, `is of type ${typeof value}`);
  }
}

function quote(text: string, path: string): string {
  if (!text.isWellFormed()) refuse(path, 'contains a lone surrogate');
  return JSON.stringify(text);
}

function writeList(list: readonly unknown[], path: string, depth: number, out: Output): void {
  if (Object.getPrototypeOf(list) !== Array.prototype) refuse(path, 'is not a plain list');
  if (list.length > CANONICAL_LIMITS.listMembers) refuse(path, 'has more than 4096 members');
  const own = Reflect.ownKeys(list);
  if (own.length !== list.length + 1) refuse(path, 'is a sparse list or carries extra properties');
  emit('[', path, out);
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) emit(',', path, out);
    write(ownData(list, String(index), path), `${path}[${index}]`, depth + 1, out);
  }
  emit(']', path, out);
}

function writeObject(object: object, path: string, depth: number, out: Output): void {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== null && prototype !== Object.prototype) refuse(path, 'is not a plain object');
  const own = Reflect.ownKeys(object);
  const names = own.filter((key): key is string => typeof key === 'string').sort();
  if (names.length !== own.length) refuse(path, 'has a symbol key');
  emit('{', path, out);
  names.forEach((name, index) => {
    const inner = `${path}.${name}`;
    if (name === 'toJSON') refuse(inner, 'is named toJSON');
    if (index > 0) emit(',', path, out);
    emit(`${quote(name, inner)}:`, inner, out);
    write(ownData(object, name, inner), inner, depth + 1, out);
  });
  emit('}', path, out);
}

/** Reads a property without running code: an accessor could answer differently each time. */
function ownData(object: object, name: string, path: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, name);
  if (property === undefined || !('value' in property)) return refuse(path, 'is an accessor or missing');
  if (property.enumerable !== true) return refuse(path, 'is not enumerable');
  return property.value;
}
