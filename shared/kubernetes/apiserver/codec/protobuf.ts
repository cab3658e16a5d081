import { ArcError } from '#shared/base/errors';

/** One field of a protobuf message, as it stands on the wire. */
export type WireField =
  | { number: number; type: 'varint'; value: bigint }
  | { number: number; type: 'bytes'; value: Uint8Array }
  | { number: number; type: 'fixed'; value: Uint8Array };

/** Enough for any message read here: an envelope, a review. */
const mostFields = 4096;

function broken(what: string): ArcError {
  return new ArcError('BadRequest', `the protobuf body cannot be read: ${what}`);
}

/** A position in bytes that never moves beyond their end. */
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
    if (length > this.#bytes.length - this.#at) throw broken('it ends in the middle of a field');
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
    throw broken('a number is longer than 64 bits');
  }

  length(): number {
    const length = this.varint();
    if (length > BigInt(this.#bytes.length)) throw broken('a field is longer than the body');
    return Number(length);
  }
}

function field(cursor: Cursor): WireField {
  const tag = cursor.varint();
  const number = Number(tag >> 3n);
  if (number < 1 || number > 2 ** 29 - 1) throw broken('a field has no valid number');
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
      throw broken('a field has an unknown wire type');
  }
}

/**
 * The fields of a protobuf message in their order, values as views of `bytes`. Rejects groups (deprecated, not used
 * by Kubernetes) and values that are cut short or out of range with BadRequest.
 */
export function readMessage(bytes: Uint8Array): WireField[] {
  const cursor = new Cursor(bytes);
  const fields: WireField[] = [];
  while (!cursor.atEnd) {
    if (fields.length >= mostFields) throw broken('it has too many fields');
    fields.push(field(cursor));
  }
  return fields;
}

/** A field that must hold a string. */
export function readText(field: WireField): string {
  if (field.type !== 'bytes') throw broken(`field ${field.number} is no text`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(field.value);
  } catch (caught) {
    throw ArcError.is(caught) ? caught : broken(`field ${field.number} is not UTF-8`);
  }
}

/** A field that must hold a message or bytes. */
export function readBytes(field: WireField): Uint8Array {
  if (field.type !== 'bytes') throw broken(`field ${field.number} is no message`);
  return field.value;
}

/** A field that must hold an int64 within JavaScript's safe integers. */
export function readInteger(field: WireField): number {
  if (field.type !== 'varint') throw broken(`field ${field.number} is no number`);
  const value = Number(BigInt.asIntN(64, field.value));
  if (!Number.isSafeInteger(value)) throw broken(`field ${field.number} is out of range`);
  return value;
}
