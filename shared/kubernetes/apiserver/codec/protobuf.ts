import { ArcError } from '#shared/base/errors';

/** A field of a protobuf message in wire format. */
export type WireField =
  | { number: number; type: 'varint'; value: bigint }
  | { number: number; type: 'bytes'; value: Uint8Array }
  | { number: number; type: 'fixed'; value: Uint8Array };

/** Limit of fields per message; above any supported message. */
const maxFields = 4096;

function malformed(reason: string): ArcError {
  return new ArcError('BadRequest', `the protobuf body is malformed: ${reason}`);
}

/** A bounds-checked read position. */
class Cursor {
  #at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw malformed('it ends in the middle of a field');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const [byte = 0] = this.take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed('a number is longer than 64 bits');
  }

  length(): number {
    const length = this.varint();
    if (length > BigInt(this.#bytes.length)) throw malformed('a field is longer than the body');
    return Number(length);
  }
}

function field(cursor: Cursor): WireField {
  const tag = cursor.varint();
  const number = Number(tag >> 3n);
  if (number < 1 || number > 2 ** 29 - 1) throw malformed('a field has an invalid number');
  switch (Number(tag & 7n)) {
    case 0:
      return { number, type: 'varint', value: cursor.varint() };
    case 1:
      return { number, type: 'fixed', value: cursor.take(8) };
    case 2:
      return { number, type: 'bytes', value: cursor.take(cursor.length()) };
    case 5:
      return { number, type: 'fixed', value: cursor.take(4) };
    default:
      throw malformed('a field has an unknown wire type');
  }
}

/**
 * Returns the fields of a protobuf message in order; values are views of `bytes`. Throws BadRequest for groups (deprecated, not used by
 * Kubernetes) and for values that are truncated or out of range.
 */
export function readMessage(bytes: Uint8Array): WireField[] {
  const cursor = new Cursor(bytes);
  const fields: WireField[] = [];
  while (!cursor.atEnd) {
    if (fields.length >= maxFields) throw malformed('it has too many fields');
    fields.push(field(cursor));
  }
  return fields;
}

/** Returns the value of a string field. Throws BadRequest for other types. */
export function readText(field: WireField): string {
  if (field.type !== 'bytes') throw malformed(`field ${field.number} is not a string`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(field.value);
  } catch (caught) {
    throw ArcError.is(caught) ? caught : malformed(`field ${field.number} is not UTF-8`);
  }
}

/** Returns the value of a message or bytes field. Throws BadRequest for other types. */
export function readBytes(field: WireField): Uint8Array {
  if (field.type !== 'bytes') throw malformed(`field ${field.number} is not a message`);
  return field.value;
}

/** Returns the value of an int64 field. Throws BadRequest for other types and unsafe integers. */
export function readInteger(field: WireField): number {
  if (field.type !== 'varint') throw malformed(`field ${field.number} is not an integer`);
  const value = Number(BigInt.asIntN(64, field.value));
  if (!Number.isSafeInteger(value)) throw malformed(`field ${field.number} is out of range`);
  return value;
}
