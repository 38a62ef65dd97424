/**
 * Protobuf on the wire, as far as the door needs it: find a field, replace one, and touch no other byte. Decoding and
 * encoding again would drop whatever is newer than our schema.
 *
 * Stricter than a decoder on purpose. Decoders keep the last of two singular fields, merge two messages, take overlong
 * varints: two readers could see two things. What is read here has one reading.
 */
import { portcullisError } from '../../schemas/errors.ts';

export interface WireField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. Groups are refused. */
  readonly type: 0 | 1 | 2 | 5;
  /** Where the field's tag begins. */
  readonly start: number;
  /** Where the value's own bytes begin (after the length, for type 2) and where the field ends. */
  readonly valueStart: number;
  readonly end: number;
}

const MAX_FIELDS = 4096;
const EMPTY = new Uint8Array(0);

/** Every field of a message, in order. @throws `schema_invalid` when the bytes are no protobuf message. */
export function wireFields(bytes: Uint8Array): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (fields.length >= MAX_FIELDS) malformed('has too many fields');
    const field = readField(bytes, at);
    fields.push(field);
    at = field.end;
  }
  return fields;
}

function readField(bytes: Uint8Array, start: number): WireField {
  const [tag, afterTag] = readVarint(bytes, start);
  const number = Math.floor(tag / 8);
  if (number < 1 || number > 0x1fffffff) malformed('has a field number out of range');
  switch (tag % 8) {
    case 0: {
      const [, end] = readVarint(bytes, afterTag);
      return { number, type: 0, start, valueStart: afterTag, end };
    }
    case 1:
      return bounded(bytes, { number, type: 1, start, valueStart: afterTag, end: afterTag + 8 });
    case 2: {
      const [length, valueStart] = readVarint(bytes, afterTag);
      return bounded(bytes, { number, type: 2, start, valueStart, end: valueStart + length });
    }
    case 5:
      return bounded(bytes, { number, type: 5, start, valueStart: afterTag, end: afterTag + 4 });
    default:
      return malformed('has a field of an unknown wire type');
  }
}

function bounded(bytes: Uint8Array, field: WireField): WireField {
  if (field.end > bytes.length) malformed('is cut short');
  return field;
}

/** A varint and where it ends. Values above 2^53 come back imprecise; no length or tag is near that. */
function readVarint(bytes: Uint8Array, start: number): readonly [number, number] {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return malformed('is cut short');
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) {
      if (byte === 0 && index > 0) malformed('has an overlong varint');
      return [value, start + index + 1];
    }
  }
  return malformed('has an overlong varint');
}

function malformed(reason: string): never {
  throw portcullisError('schema_invalid', { path: 'message', reason });
}

/** A message that was read once; fields by number. */
export class WireMessage {
  readonly bytes: Uint8Array;
  readonly #fields: readonly WireField[];

  /** @throws `schema_invalid` */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#fields = wireFields(bytes);
  }

  /** @throws `schema_invalid` when a field is there that the door does not know. */
  permitOnly(numbers: readonly number[]): void {
    for (const { number } of this.#fields) {
      if (!numbers.includes(number)) malformed(`has the field ${number}, which the door does not know`);
    }
  }

  /** The only occurrence of a singular field. @throws `schema_invalid` when it is there twice. */
  #only(number: number): WireField | undefined {
    const found = this.#fields.filter((field) => field.number === number);
    if (found.length > 1) malformed(`has the field ${number} twice`);
    return found[0];
  }

  /** Bytes of a singular field; empty when absent. @throws `schema_invalid` when repeated or of another type. */
  bytesOf(number: number): Uint8Array {
    const field = this.#only(number);
    if (field === undefined) return EMPTY;
    if (field.type !== 2) malformed(`has the field ${number} in another type`);
    return this.bytes.subarray(field.valueStart, field.end);
  }

  has(number: number): boolean {
    return this.#only(number) !== undefined;
  }

  /** Text of a singular field; empty when absent. @throws `schema_invalid` when it is not UTF-8. */
  textOf(number: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytesOf(number));
    } catch (thrown) {
      if (thrown instanceof TypeError) return malformed(`has text that is not UTF-8 in the field ${number}`);
      throw thrown;
    }
  }

  /** Number of a singular varint field; 0 when absent, as proto3 says. @throws `schema_invalid` */
  numberOf(number: number): number {
    const field = this.#only(number);
    if (field === undefined) return 0;
    if (field.type !== 0) malformed(`has the field ${number} in another type`);
    return readVarint(this.bytes, field.valueStart)[0];
  }

  /** Every occurrence of a repeated field of bytes or messages, in order. @throws `schema_invalid` */
  everyOf(number: number): readonly Uint8Array[] {
    return this.#fields
      .filter((field) => field.number === number)
      .map((field) => {
        if (field.type !== 2) malformed(`has the field ${number} in another type`);
        return this.bytes.subarray(field.valueStart, field.end);
      });
  }

  message(number: number): WireMessage {
    return new WireMessage(this.bytesOf(number));
  }

  /** The message with that singular field holding other bytes, in its place; every other byte as it was. @throws `schema_invalid` */
  spliced(number: number, value: Uint8Array): Buffer {
    const field = this.#only(number);
    const written = lengthDelimited(number, value);
    if (field === undefined) return Buffer.concat([written, this.bytes]);
    return Buffer.concat([this.bytes.subarray(0, field.start), written, this.bytes.subarray(field.end)]);
  }
}

/** One length-delimited field as it stands on the wire. */
export function lengthDelimited(number: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.push(rest);
  return Buffer.from(out);
}
