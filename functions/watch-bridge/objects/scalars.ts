/**
 * What a text of the codec begins with. Each character is one byte. From `smallest` up to \\x7f the character is itself an integer from 0;
 * from \\x80 on it and the next one are the number of a known value.
 */
export const tag = {
  null: '\x00',
  true: '\x01',
  false: '\x02',
  integer: '\x03',
  array: '\x04',
  object: '\x05',
  latin: '\x07',
  wide: '\x08',
  uuid: '\x09',
  digest: '\x0a',
  /** A time of whole seconds. */
  time: '\x0b',
  hex: '\x0c',
  /** A string that is the decimal form of an integer, as a resourceVersion. */
  decimal: '\x0d',
  /** Whatever has no shorter form. */
  json: '\x0e',
  /** A text and sixteen hex digits, as the name of an ArtifactWorkflow. */
  tailed: '\x0f',
} as const;

/** The character of the integer 0. */
export const smallest = 0x20;
/** Values that can have a number: fifteen bits. */
export const mostKnown = 0x8000;

export function knownText(number: number): string {
  return String.fromCharCode(0x80 | (number >> 8), number & 0xff);
}

const hexForm = /^(?:[0-9a-f]{2}){4,}$/;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const digestForm = /^sha256:[0-9a-f]{64}$/;
const timeForm = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const tailForm = /[^0-9a-f][0-9a-f]{16}$/;
const decimalForm = /^[1-9]\d{0,14}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are one-byte characters as others.
const latinForm = /^[\x00-\xff]*$/;

/** A value that is neither a list nor an object with plain names. */
export function encodeScalar(value: unknown): string {
  if (value === null || value === undefined) return tag.null;
  if (value === true) return tag.true;
  if (value === false) return tag.false;
  if (typeof value === 'string') return encodeString(value);
  if (Number.isSafeInteger(value) && Number(value) >= 0) return encodeInteger(Number(value));
  return lengthened(tag.json, utf8(JSON.stringify(value)));
}

function encodeInteger(value: number): string {
  return value < 0x80 - smallest ? String.fromCharCode(smallest + value) : tag.integer + size(value);
}

function encodeString(value: string): string {
  if (digestForm.test(value)) return tag.digest + bytesOf(value.slice(7));
  if (uuidForm.test(value)) return tag.uuid + bytesOf(value.replaceAll('-', ''));
  if (hexForm.test(value)) return lengthened(tag.hex, bytesOf(value));
  if (timeForm.test(value) && timeText(Date.parse(value) / 1_000) === value)
    return tag.time + fourBytes(Date.parse(value) / 1_000);
  if (decimalForm.test(value)) return tag.decimal + size(Number(value));
  if (latinForm.test(value))
    return tailForm.test(value)
      ? lengthened(tag.tailed, value.slice(0, -16)) + bytesOf(value.slice(-16))
      : lengthened(tag.latin, value);
  // Half a surrogate pair has no UTF-8, but an escape.
  return value.isWellFormed()
    ? lengthened(tag.wide, utf8(value))
    : lengthened(tag.json, utf8(JSON.stringify(value)));
}

/** A number of bytes or items, seven bits in each character, the lowest first. */
export function size(count: number): string {
  let text = '';
  let rest = count;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) text += String.fromCharCode(0x80 | (rest & 0x7f));
  return text + String.fromCharCode(rest);
}

function fourBytes(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}

export function timeText(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 19)}Z`;
}

function lengthened(kind: string, bytes: string): string {
  return kind + size(bytes.length) + bytes;
}

function bytesOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
